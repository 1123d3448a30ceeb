// Text on standard output, with every error noticed.
#pragma once
#include <string>

namespace tessera::cli {

/// Throws ResourceError when it cannot be written. A reader that has closed the pipe (`| head`) is not an
/// error.
void write_stdout(const std::string& text);

/// Whether the reader of standard output has gone away.
bool stdout_reader_is_gone();
/// Writes the whole of `text`: to a file, which is replaced at the end, or by write_stdout() where `path` is
/// "-".
void write_text(const std::string& path, const std::string& text);

}  // namespace tessera::cli
