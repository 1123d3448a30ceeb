// Text on standard output, with every error noticed.
#pragma once
#include <string>

namespace tessera::cli {

/// Throws ResourceError when it cannot be written. A reader that has closed the pipe (`| head`) is not an
/// error.
void write_stdout(const std::string& text);

/// Whether the reader of standard output has gone away.
bool stdout_reader_is_gone();

}  // namespace tessera::cli
