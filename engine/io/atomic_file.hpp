// Output that is either the old file or the complete new one: written under a temporary name in the same
// folder, flushed, synced, renamed. Regular files only; "-" and devices such as /dev/full are written to
// directly, with every error reported. Used by all writers of the project.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

class AtomicFile {
 public:
  /// Opens the temporary file (or standard output for "-"); throws ResourceError with path and reason.
  /// A symbolic link stays: the file that it leads to is replaced. An existing file keeps its permissions.
  explicit AtomicFile(const std::string& path);
  /// Removes the temporary file unless commit() has succeeded.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);  ///< buffered; throws ResourceError (disk full, closed pipe ...)
  void write_at(std::uint64_t position, std::string_view bytes);  ///< regular files only, unbuffered
  void commit();  ///< flush, sync, close, rename; throws ResourceError
  /// The same for two files that belong together: all of both is on disk before either name is taken.
  static void commit_both(AtomicFile& first, AtomicFile& second);
  /// The same, and removes the regular file `companion`, if there is one: it belongs to the old file.
  void commit_without(const std::string& companion);

 private:
  void finish();  ///< all but the new name
  void take_name();
  void sync_folder() const;
  void create_temporary(int permissions);
  void remove_temporary();
  void flush();
  void write_all(std::string_view bytes, const std::uint64_t* position);
  [[noreturn]] void fail(int error_number) const;

  std::string path_;    ///< as given, for messages
  std::string target_;  ///< path_ with symbolic links followed; what is renamed over
  std::string temporary_path_, buffer_;
  int descriptor_ = -1;
  bool is_regular_ = true;
};

/// "-" and /dev/stdout, which an AtomicFile takes for the same.
bool is_standard_output(const std::string& path);
/// Whether an AtomicFile of `path` writes beside it: a regular file is there, or nothing yet.
bool has_temporary(const std::string& path);
/// By all AtomicFiles so far to what is no regular file. May be asked by a signal handler.
std::uint64_t bytes_written_to_pipes();
/// Of all AtomicFiles now. May be asked by a signal handler.
int num_temporaries();

/// Throws ResourceError when `path` could not be written by an AtomicFile now (missing folder, no rights,
/// a folder of that name); leaves nothing behind. "-" is fine.
void check_writable(const std::string& path);

}  // namespace tessera
