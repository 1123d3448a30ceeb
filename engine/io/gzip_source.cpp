#include "engine/io/gzip_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "kernels/base/error.hpp"

namespace tessera {

namespace {

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<PeekSource> below, std::string name)
      : below_(std::move(below)), name_(std::move(name)) {
    constexpr int kGzipOnly = 15 + 16;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw ResourceError(name_ + ": zlib cannot start");
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::size_t read(std::span<char> target) override {
    stream_.next_out = reinterpret_cast<Bytef*>(target.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(target.size(), 1u << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted && wanted != 0 && !at_end_) {
      if (stream_.avail_in == 0) refill();
      if (!in_member_ && !begin_member()) break;
      step();
    }
    return wanted - stream_.avail_out;
  }

 private:
  void refill() {
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(below_->read(input_));
    if (stream_.avail_in == 0 && in_member_) throw InputError(name_ + ": the gzip data is truncated");
  }

  /// False at the end of the file. Zero bytes after the last member are padding, as gzip itself takes them.
  bool begin_member() {
    while (any_member_) {
      while (stream_.avail_in > 0 && *stream_.next_in == 0)
        ++stream_.next_in, --stream_.avail_in, padding_ = true;
      if (stream_.avail_in > 0) break;
      refill();
      if (stream_.avail_in == 0) {
        at_end_ = true;
        return false;
      }
    }
    if (any_member_ && (padding_ || *stream_.next_in != 0x1f))
      throw InputError(name_ + ": damaged: there is garbage after the end of the gzip data");
    in_member_ = any_member_ = true;
    inflateReset(&stream_);
    return true;
  }

  void step() {
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      in_member_ = false;
    } else if (result == Z_MEM_ERROR) {
      throw ResourceError(name_ + ": no memory to decompress");
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw InputError(name_ + ": the gzip data is damaged (" +
                       (stream_.msg != nullptr ? stream_.msg : "checksum") + ")");
    }
  }

  std::unique_ptr<PeekSource> below_;
  std::string name_;
  z_stream stream_ = {};
  std::vector<char> input_ = std::vector<char>(std::size_t{1} << 18);
  bool in_member_ = false, any_member_ = false, padding_ = false, at_end_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<PeekSource> below, const std::string& name) {
  return std::make_unique<GzipSource>(std::move(below), name);
}

}  // namespace tessera
