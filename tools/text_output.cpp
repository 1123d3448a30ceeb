#include "tools/text_output.hpp"

#include <poll.h>
#include <unistd.h>

#include "engine/io/atomic_file.hpp"
#include "kernels/base/error.hpp"
#include "tools/stop_signal.hpp"

namespace tessera::cli {

bool stdout_reader_is_gone() {
  pollfd descriptor{STDOUT_FILENO, POLLOUT, 0};
  return poll(&descriptor, 1, 0) == 1 && (descriptor.revents & POLLERR) != 0;
}

void write_stdout(const std::string& text) {
  try {
    AtomicFile file("-");
    file.write(text);
    file.commit();
  } catch (const ResourceError&) {
    if (!stdout_reader_is_gone()) throw;
  }
}

void write_to_reader(const std::string& path, Communicator& comm, const std::function<void()>& write) {
  const WritingScope writing(comm.is_root());
  try {
    write();
  } catch (const ResourceError&) {
    const bool closed = is_standard_output(path) && comm.is_root() && stdout_reader_is_gone();
    if (all_max(comm, std::uint64_t{closed}) == 0) throw;
  }
}

void write_text(const std::string& path, const std::string& text) {
  const WritingScope writing;
  if (path == "-") return write_stdout(text);
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace tessera::cli
