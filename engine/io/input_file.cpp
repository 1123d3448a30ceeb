#include "engine/io/input_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "kernels/base/error.hpp"

namespace tessera {

InputFile::InputFile(std::string path) : owned_(path != "-") {
  name_ = owned_ ? std::move(path) : "standard input";
  descriptor_ = owned_ ? open(name_.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  if (descriptor_ < 0) throw InputError(name_ + ": cannot open: " + system_error_text(errno));
  const int failed = fstat(descriptor_, &status_) != 0 ? errno : S_ISDIR(status_.st_mode) ? EISDIR : 0;
  if (failed == 0) return;
  if (owned_) close(descriptor_);
  throw InputError(name_ + ": cannot read: " + system_error_text(failed));
}

InputFile::~InputFile() {
  if (owned_) close(descriptor_);
}

std::size_t InputFile::read_at(std::span<char> target, std::uint64_t offset) const {
  std::size_t done = 0;
  while (done < target.size()) {
    const ssize_t got =
        pread(descriptor_, target.data() + done, target.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw InputError(name_ + ": cannot read: " + system_error_text(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::size_t InputFile::read_next(std::span<char> target) {
  for (;;) {
    const ssize_t got = read(descriptor_, target.data(), target.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw InputError(name_ + ": cannot read: " + system_error_text(errno));
  }
}

void InputFile::check_unchanged() const {
  if (!is_regular()) return;
  struct stat now = {};
  if (fstat(descriptor_, &now) != 0) throw InputError(name_ + ": cannot read: " + system_error_text(errno));
  if (now.st_size != status_.st_size || now.st_mtim.tv_sec != status_.st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != status_.st_mtim.tv_nsec)
    throw InputError(name_ + ": changed while it was read; run again when it is complete");
}

bool is_regular_file(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace tessera
