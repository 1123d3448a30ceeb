// A regular file mapped for reading. Pages are private and read-only; a file that another program shortens
// while it is mapped ends the process with SIGBUS, as with every mapping (docs/cache-format.md).
#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

class MappedFile {
 public:
  /// Throws InputError when `path` is not a readable regular file.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }
  /// Throws InputError when size or time of change differ from when the file was opened.
  void check_unchanged() const;
  /// The same number where it is the same file of one running system, and so the same memory; 0 where that
  /// cannot be told.
  std::uint64_t identity() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  void* data_ = nullptr;
  std::size_t size_ = 0;
  struct stat status_ = {};
};

}  // namespace tessera
