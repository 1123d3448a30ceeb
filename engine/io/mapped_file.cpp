#include "engine/io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "engine/io/cache_checksum.hpp"
#include "kernels/base/boot_id.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// What the constructor has got so far, given back if it throws.
struct DescriptorGuard {
  int descriptor;
  ~DescriptorGuard() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer before it is refused.
  DescriptorGuard guard{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (guard.descriptor < 0 || ::fstat(guard.descriptor, &status_) != 0)
    throw InputError(path + ": cannot open: " + system_error_text(errno));
  if (!S_ISREG(status_.st_mode)) throw InputError(path + ": a cache must be a regular file");
  size_ = static_cast<std::size_t>(status_.st_size);
  if (size_ != 0) {
    data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, guard.descriptor, 0);
    if (data_ == MAP_FAILED) throw ResourceError(path + ": cannot map: " + system_error_text(errno));
    ::madvise(data_, size_, MADV_WILLNEED);
  }
  descriptor_ = guard.descriptor;
  guard.descriptor = -1;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
  ::close(descriptor_);
}

void MappedFile::check_unchanged() const {
  struct stat now = {};
  const bool same = ::fstat(descriptor_, &now) == 0 && now.st_size == status_.st_size &&
                    now.st_mtim.tv_sec == status_.st_mtim.tv_sec &&
                    now.st_mtim.tv_nsec == status_.st_mtim.tv_nsec;
  if (!same) throw InputError(path_ + ": changed while it was read; run again when it is complete");
}

std::uint64_t MappedFile::identity() const {
  std::string text = boot_id();
  if (text.empty()) return 0;
  const std::uint64_t numbers[] = {status_.st_dev, status_.st_ino, size_,
                                   static_cast<std::uint64_t>(status_.st_ctim.tv_sec),
                                   static_cast<std::uint64_t>(status_.st_ctim.tv_nsec)};
  for (const std::uint64_t number : numbers) text.append(" ").append(std::to_string(number));
  return piece_checksum(text);
}

}  // namespace tessera
