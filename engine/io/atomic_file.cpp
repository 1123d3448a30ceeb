// See the header. Every system call that can report a lost write is checked: write, fsync, close, rename.
#include "engine/io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>

#include "engine/io/input_file.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

bool is_standard_output(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
/// A pipe holds so much: what goes there at once shows whether somebody reads.
constexpr std::size_t kPipeBytes = std::size_t{1} << 16;
std::atomic<std::uint64_t> bytes_to_pipes = 0;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
constexpr int kNewFilePermissions = 0666;  // less the umask, as every program's output

std::atomic<int> temporaries = 0;

std::string display_name(const std::string& path) {
  return is_standard_output(path) ? "standard output" : '"' + path + '"';
}

[[noreturn]] void fail_to_write(const std::string& path, const std::string& reason) {
  throw ResourceError("cannot write " + display_name(path) + ": " + reason);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// What is at the end of a path now.
struct Target {
  std::string path;                   ///< symbolic links followed
  std::optional<mode_t> permissions;  ///< of the file that is there
  bool is_regular = true;             ///< or will be: nothing is there yet
};

Target find_target(const std::string& path) {
  if (path.empty()) fail_to_write(path, "the name is empty");
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail_to_write(path, system_error_text(errno));
    if (::lstat(path.c_str(), &status) == 0)
      fail_to_write(
          path, "it is a symbolic link to a file that does not exist; remove the link or create the file");
    if (path.back() == '/') fail_to_write(path, "the folder does not exist");
    return {path, std::nullopt, true};
  }
  if (S_ISDIR(status.st_mode)) fail_to_write(path, system_error_text(EISDIR));
  // Renaming would replace a file that its owner has protected.
  if (::access(path.c_str(), W_OK) != 0) fail_to_write(path, system_error_text(errno));
  if (!S_ISREG(status.st_mode)) return {path, std::nullopt, false};
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
  if (!resolved) fail_to_write(path, system_error_text(errno));
  return {resolved.get(), status.st_mode & 07777, true};
}

std::string temporary_name(const std::string& target, std::uint32_t random_number) {
  constexpr std::size_t kLongestName = 200;  // file systems allow 255 bytes, the additions included
  const std::string folder = folder_of(target);
  const std::string name = target.substr(target.rfind('/') + 1, kLongestName);
  return folder + "/." + name + "." + std::to_string(random_number) + ".tmp";
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  if (is_standard_output(path)) {
    is_regular_ = false;
    descriptor_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);  // a copy, so that close() can report errors
    if (descriptor_ < 0) fail(errno);
    return;
  }
  const Target target = find_target(path);
  target_ = target.path;
  is_regular_ = target.is_regular;
  if (is_regular_) {
    create_temporary(kNewFilePermissions);
    if (target.permissions && ::fchmod(descriptor_, *target.permissions) != 0) {
      const int error_number = errno;
      ::close(descriptor_);
      remove_temporary();
      fail(error_number);
    }
  } else {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) fail(errno);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  remove_temporary();
}

void AtomicFile::remove_temporary() {
  if (temporary_path_.empty()) return;
  ::unlink(temporary_path_.c_str());
  temporary_path_.clear();
  --temporaries;
}

void AtomicFile::create_temporary(int permissions) {
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = temporary_name(target_, random());
    descriptor_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
    if (descriptor_ >= 0) {
      temporary_path_ = std::move(name);
      ++temporaries;
      return;
    }
    if (errno != EEXIST) break;
  }
  fail(errno);
}

void AtomicFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() >= kBufferBytes) {
    write_all(bytes, nullptr);
  } else {
    buffer_.append(bytes);
  }
}

void AtomicFile::write_at(std::uint64_t position, std::string_view bytes) {
  flush();
  if (!is_regular_) fail_to_write(path_, "it is not a regular file, which this format needs");
  write_all(bytes, &position);
}

void AtomicFile::flush() {
  write_all(buffer_, nullptr);
  buffer_.clear();
}

void AtomicFile::write_all(std::string_view bytes, const std::uint64_t* position) {
  std::uint64_t at = position != nullptr ? *position : 0;
  while (!bytes.empty()) {
    const std::size_t size = is_regular_ ? bytes.size() : std::min(bytes.size(), kPipeBytes);
    const ssize_t written = position != nullptr
                                ? ::pwrite(descriptor_, bytes.data(), size, static_cast<off_t>(at))
                                : ::write(descriptor_, bytes.data(), size);
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(errno);
    }
    if (!is_regular_) bytes_to_pipes += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
}

void AtomicFile::commit() {
  finish();
  take_name();
  sync_folder();
}

void AtomicFile::commit_both(AtomicFile& first, AtomicFile& second) {
  first.finish();
  second.finish();
  first.take_name();
  second.take_name();
  first.sync_folder();
  second.sync_folder();
}

void AtomicFile::commit_without(const std::string& companion) {
  struct stat status {};
  const bool is_there = ::stat(companion.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  if (is_there && ::access(companion.c_str(), W_OK) != 0)  // its owner has protected it
    fail_to_write(companion, system_error_text(errno));
  finish();
  // Moved first, as that may fail; so the new file never stands beside the old one's companion.
  const std::string aside = temporary_name(companion, std::random_device()());
  if (is_there && ::rename(companion.c_str(), aside.c_str()) != 0)
    fail_to_write(companion, system_error_text(errno));
  try {
    take_name();
  } catch (...) {
    if (is_there) (void)::rename(aside.c_str(), companion.c_str());
    throw;
  }
  if (is_there) (void)::unlink(aside.c_str());
  sync_folder();
}

void AtomicFile::finish() {
  flush();
  if (is_regular_ && ::fsync(descriptor_) != 0) fail(errno);
  const int closing = descriptor_;
  descriptor_ = -1;
  if (::close(closing) != 0) fail(errno);
}

void AtomicFile::take_name() {
  if (!is_regular_) return;
  if (::rename(temporary_path_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_path_.clear();
  --temporaries;
}

void AtomicFile::sync_folder() const {
  if (!is_regular_) return;
  // The new name survives a power loss only when the folder is on disk too.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;  // a folder that may be written but not read: nothing to sync it with
  const bool synced = ::fsync(folder) == 0 || errno == EINVAL || errno == ENOTSUP;
  const int error_number = errno;
  ::close(folder);
  if (!synced) fail(error_number);
}

void AtomicFile::fail(int error_number) const {
  if (error_number == EPIPE) fail_to_write(path_, "the reader closed the pipe");
  fail_to_write(path_, system_error_text(error_number));
}

bool has_temporary(const std::string& path) {
  return !is_standard_output(path) && (::access(path.c_str(), F_OK) != 0 || is_regular_file(path));
}

std::uint64_t bytes_written_to_pipes() { return bytes_to_pipes; }
int num_temporaries() { return temporaries; }

void check_writable(const std::string& path) {
  if (is_standard_output(path)) return;
  // A FIFO is not opened: that would wait for its reader, and the reader would see an end of file.
  if (find_target(path).is_regular) AtomicFile probe(path);
}

}  // namespace tessera
