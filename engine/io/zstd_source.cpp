// Every frame of a zstd file, checksums verified by libzstd. Compiled where libarchive is absent.
#ifndef TESSERA_HAVE_LIBARCHIVE
#include "engine/io/zstd_source.hpp"

#include <zstd.h>

#include <vector>

#include "kernels/base/error.hpp"

namespace tessera {

namespace {

class ZstdSource : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<PeekSource> below, std::string name)
      : below_(std::move(below)), name_(std::move(name)), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw ResourceError(name_ + ": no memory to decompress");
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  std::size_t read(std::span<char> target) override {
    ZSTD_outBuffer out{target.data(), target.size(), 0};
    while (out.pos == 0 && out.size != 0) {
      if (in_.pos == in_.size) in_ = {input_.data(), below_->read(input_), 0};
      if (in_.size == 0 && at_frame_end_) return 0;
      const bool at_file_end = in_.size == 0;
      const std::size_t result = ZSTD_decompressStream(stream_, &out, &in_);
      if (ZSTD_isError(result) != 0)
        throw InputError(name_ + ": the zstd data is damaged or needs too large a window (" +
                         ZSTD_getErrorName(result) + "); zstd -d --long=31 decompresses the latter");
      at_frame_end_ = result == 0;
      if (at_file_end && !at_frame_end_ && out.pos == 0)
        throw InputError(name_ + ": the zstd data is truncated");
    }
    return out.pos;
  }

 private:
  std::unique_ptr<PeekSource> below_;
  std::string name_;
  ZSTD_DStream* stream_;
  std::vector<char> input_ = std::vector<char>(std::size_t{1} << 18);
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool at_frame_end_ = true;
};

}  // namespace

std::unique_ptr<ByteSource> make_zstd_source(std::unique_ptr<PeekSource> below, const std::string& name) {
  return std::make_unique<ZstdSource>(std::move(below), name);
}

}  // namespace tessera
#endif
