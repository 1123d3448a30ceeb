// Compressions, tar and zip through libarchive. Compiled where libarchive is there.
#ifdef TESSERA_HAVE_LIBARCHIVE
#include "engine/io/archive_source.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <optional>

#include "kernels/base/error.hpp"

namespace tessera {

namespace {

/// One open `struct archive`, reading from a ByteSource through callbacks.
class ArchiveReader {
 public:
  ArchiveReader(std::unique_ptr<PeekSource> below, std::string name)
      : below_(std::move(below)), name_(std::move(name)), archive_(archive_read_new()) {
    if (archive_ == nullptr) throw ResourceError(name_ + ": no memory to decompress");
  }
  ~ArchiveReader() { archive_read_free(archive_); }
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  archive* get() { return archive_; }
  void open() { check(archive_read_open(archive_, this, nullptr, &ArchiveReader::read_callback, nullptr)); }

  /// The next entry, or nullptr at the end.
  archive_entry* next_entry() {
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(archive_, &entry);
    if (result == ARCHIVE_EOF) return nullptr;
    check(result);
    return entry;
  }

  std::size_t read(std::span<char> target) {
    for (;;) {
      const la_ssize_t got = archive_read_data(archive_, target.data(), target.size());
      if (got == ARCHIVE_RETRY) continue;
      check(got);
      return static_cast<std::size_t>(got);
    }
  }

  /// Whether bytes are left that belong to nothing.
  bool has_garbage() {
    if (static_cast<std::uint64_t>(archive_filter_bytes(archive_, -1)) < supplied_) return true;
    char byte;
    return below_->read({&byte, 1}) != 0;
  }
  const std::string& name() const { return name_; }

 private:
  static la_ssize_t read_callback(archive* handle, void* self, const void** data) {
    auto& reader = *static_cast<ArchiveReader*>(self);
    try {
      const std::size_t got = reader.below_->read(reader.input_);
      reader.supplied_ += got;
      *data = reader.input_.data();
      return static_cast<la_ssize_t>(got);
    } catch (...) {  // must not pass through C
      reader.failure_ = std::current_exception();
      archive_set_error(handle, EIO, "reading failed");
      return -1;
    }
  }

  void check(la_ssize_t result) {
    if (result >= 0) return;
    if (failure_) std::rethrow_exception(failure_);
    const char* text = archive_error_string(archive_);
    std::string reason = text != nullptr ? text : "unknown reason";
    if (reason.find("too much memory") != std::string::npos ||
        reason.find("emory limit") != std::string::npos)
      throw InputError(name_ + ": its compression needs more memory than is allowed (" + reason +
                       "); decompress it first, e.g. zstd -d --long=31");
    throw InputError(name_ + ": the compressed data is truncated or damaged (" + reason + ")");
  }

  std::unique_ptr<PeekSource> below_;
  std::string name_;
  archive* archive_;
  std::vector<char> input_ = std::vector<char>(std::size_t{1} << 18);
  std::uint64_t supplied_ = 0;
  std::exception_ptr failure_;
};

void enable_filter(archive* handle, Layer layer) {
  switch (layer) {
    case Layer::gzip:
      archive_read_support_filter_gzip(handle);
      break;
    case Layer::zstd:
      archive_read_support_filter_zstd(handle);
      break;
    case Layer::bzip2:
      archive_read_support_filter_bzip2(handle);
      break;
    case Layer::xz:
      archive_read_support_filter_xz(handle);
      break;
    case Layer::lz4:
      archive_read_support_filter_lz4(handle);
      break;
    default:
      throw InternalError("not a compression of libarchive's");
  }
}

class FilterSource : public ByteSource {
 public:
  FilterSource(Layer layer, std::unique_ptr<PeekSource> below, const std::string& name)
      : reader_(std::move(below), name) {
    enable_filter(reader_.get(), layer);
    archive_read_support_format_raw(reader_.get());
    archive_read_support_format_empty(reader_.get());
    reader_.open();
    // Too short a piece of a file is not recognised, and would be handed through as it is.
    if (archive_filter_count(reader_.get()) < 2)
      throw InputError(name + ": the compressed data is truncated or damaged");
    at_end_ = reader_.next_entry() == nullptr;
  }
  std::size_t read(std::span<char> target) override {
    if (at_end_ || target.empty()) return 0;
    const std::size_t got = reader_.read(target);
    if (got != 0) return got;
    at_end_ = true;
    if (reader_.has_garbage())
      throw InputError(reader_.name() + ": damaged: there is garbage after the end of the compressed data");
    return 0;
  }

 private:
  ArchiveReader reader_;
  bool at_end_ = false;
};

void open_archive(ArchiveReader& reader) {
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip_streamable(reader.get());
  reader.open();
}

std::string entry_name(archive_entry* entry) {
  const char* name = archive_entry_pathname(entry);
  return name != nullptr ? name : "";
}

/// The name of the next file; nothing at the end. A file that tar was told twice comes again as a link to
/// itself: links have another type.
std::optional<std::string> next_file(ArchiveReader& reader) {
  while (archive_entry* entry = reader.next_entry())
    if (archive_entry_filetype(entry) == AE_IFREG) return entry_name(entry);
  return std::nullopt;
}

class MemberSource : public ByteSource {
 public:
  MemberSource(std::unique_ptr<PeekSource> below, const std::string& name, const std::string& member,
               std::size_t num_older)
      : reader_(std::move(below), name) {
    open_archive(reader_);
    while (const auto file = next_file(reader_))
      if (*file == member && num_older-- == 0) return;
    throw InputError(name + ": changed while it was read");
  }
  std::size_t read(std::span<char> target) override { return target.empty() ? 0 : reader_.read(target); }

 private:
  ArchiveReader reader_;
};

class StreamedMemberSource : public ByteSource {
 public:
  StreamedMemberSource(std::unique_ptr<PeekSource> below, const std::string& name, std::string wanted)
      : reader_(std::move(below), name), wanted_(std::move(wanted)) {
    open_archive(reader_);
    std::vector<std::string> seen;
    while (const auto file = next_file(reader_)) {
      is_whole_name_ = *file == wanted_;
      if (is_wanted(*file)) return;
      seen.push_back(*file);
    }
    choose_member(seen, wanted_, name);  // throws
  }
  std::size_t read(std::span<char> target) override {
    if (target.empty() || at_end_) return 0;
    const std::size_t got = reader_.read(target);
    if (got != 0) return got;
    at_end_ = true;
    while (const auto file = next_file(reader_))
      if (*file == wanted_ || (!is_whole_name_ && is_wanted(*file)))
        throw InputError(reader_.name() + ": the archive has several members " + wanted_ +
                         ", and on a stream it is unknown which is the right one; give it as a file");
    return 0;
  }

 private:
  bool is_wanted(const std::string& file) const { return file == wanted_ || file.ends_with("/" + wanted_); }

  ArchiveReader reader_;
  std::string wanted_;
  bool is_whole_name_ = false;  ///< of the file that is read; then its last part in another name is no matter
  bool at_end_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_filter_source(Layer layer, std::unique_ptr<PeekSource> below,
                                               const std::string& name) {
  return std::make_unique<FilterSource>(layer, std::move(below), name);
}

std::vector<std::string> archive_members(std::unique_ptr<PeekSource> below, const std::string& name) {
  ArchiveReader reader(std::move(below), name);
  open_archive(reader);
  std::vector<std::string> members;
  while (auto file = next_file(reader)) members.push_back(std::move(*file));
  return members;
}

std::unique_ptr<ByteSource> open_archive_member(std::unique_ptr<PeekSource> below, const std::string& name,
                                                const std::string& member, std::size_t num_older) {
  return std::make_unique<MemberSource>(std::move(below), name, member, num_older);
}

std::unique_ptr<ByteSource> open_streamed_member(std::unique_ptr<PeekSource> below, const std::string& name,
                                                 const std::string& wanted) {
  return std::make_unique<StreamedMemberSource>(std::move(below), name, wanted);
}

}  // namespace tessera
#endif
