// Text on standard output, with every error noticed.
#pragma once
#include <functional>
#include <string>

#include "partition/communicator.hpp"

namespace tessera::cli {

/// Throws ResourceError when it cannot be written. A reader that has closed the pipe (`| head`) is not an
/// error.
void write_stdout(const std::string& text);
/// Runs write(), which writes to `path` on rank 0. That the reader of standard output has gone is no error.
/// Collective.
void write_to_reader(const std::string& path, Communicator& comm, const std::function<void()>& write);

/// Whether the reader of standard output has gone away.
bool stdout_reader_is_gone();
/// Writes the whole of `text`: to a file, which is replaced at the end, or by write_stdout() where `path` is
/// "-".
void write_text(const std::string& path, const std::string& text);

}  // namespace tessera::cli
