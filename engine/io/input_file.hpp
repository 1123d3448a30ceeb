// An open input: a regular file that can be read at any place, or a stream (pipe, standard input).
// Text is read with pread into buffers, not mapped: mapped pages would count against the memory of the
// building that follows, and a file that shrinks would raise SIGBUS.
#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <string>

namespace tessera {

class InputFile {
 public:
  /// Opens `path` ("-" = standard input). Throws InputError with the system's reason; folders are refused.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Name for messages: the path, or "standard input".
  const std::string& name() const { return name_; }
  /// Whether read_at works and size_bytes is known; never for standard input, which has its own position.
  bool is_regular() const { return owned_ && S_ISREG(status_.st_mode); }
  std::uint64_t size_bytes() const { return is_regular() ? static_cast<std::uint64_t>(status_.st_size) : 0; }

  /// Reads as much of `target` as there is at `offset`; returns the bytes read. Any thread.
  std::size_t read_at(std::span<char> target, std::uint64_t offset) const;
  /// The next bytes of the stream; 0 at its end.
  std::size_t read_next(std::span<char> target);
  /// Throws InputError when size or time of change differ from when the file was opened.
  void check_unchanged() const;

 private:
  std::string name_;
  int descriptor_ = -1;
  bool owned_ = false;
  struct stat status_ = {};
};

/// Whether `path` names a regular file; false when it cannot be asked.
bool is_regular_file(const std::string& path);

}  // namespace tessera
