#include "engine/io/decompression.hpp"

#include <algorithm>
#include <cstring>

#include "engine/io/archive_source.hpp"
#include "engine/io/gzip_source.hpp"
#include "engine/io/zstd_source.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

namespace {

bool is_skippable_frame(std::string_view head) {
  return head.size() >= 8 && (head[0] & 0xF0) == 0x50 && head.substr(1, 3) == "\x2A\x4D\x18";
}

/// zstd and lz4 files may begin with frames that hold no data (pzstd writes them); libarchive refuses those.
void skip_frames(PeekSource& below, const std::string& name) {
  std::vector<char> dropped(4096);
  for (std::string_view head = below.peek(8); is_skippable_frame(head); head = below.peek(8)) {
    std::uint32_t size = 0;
    std::memcpy(&size, head.data() + 4, 4);
    for (std::uint64_t left = 8 + std::uint64_t{size}; left > 0;) {
      const std::size_t step = std::min<std::uint64_t>(left, dropped.size());
      if (read_fully(below, {dropped.data(), step}) < step)
        throw InputError(name + ": the compressed data is truncated");
      left -= step;
    }
  }
}

/// "BZh", the block size, and the magic number of a block or of the end; a file may be cut inside of it.
bool is_bzip2(std::string_view head) {
  using namespace std::string_view_literals;
  if (!head.starts_with("BZh"sv)) return false;
  if (head.size() > 3 && (head[3] < '1' || head[3] > '9')) return false;
  const std::string_view magic = head.substr(std::min<std::size_t>(4, head.size())).substr(0, 6);
  return "\x31\x41\x59\x26\x53\x59"sv.starts_with(magic) || "\x17\x72\x45\x38\x50\x90"sv.starts_with(magic);
}

}  // namespace

std::optional<Layer> find_layer(std::string_view head) {
  using namespace std::string_view_literals;
  if (head.starts_with("\x1F\x8B"sv)) return Layer::gzip;
  if (head.starts_with("\x28\xB5\x2F\xFD"sv) || is_skippable_frame(head)) return Layer::zstd;
  if (is_bzip2(head)) return Layer::bzip2;
  if (head.starts_with("\xFD\x37\x7A\x58\x5A\x00"sv)) return Layer::xz;
  if (head.starts_with("\x04\x22\x4D\x18"sv)) return Layer::lz4;
  if (head.starts_with("PK\x03\x04"sv) || head.starts_with("PK\x05\x06"sv)) return Layer::zip;
  if (head.size() >= 262 && head.substr(257, 5) == "ustar"sv) return Layer::tar;
  return std::nullopt;
}

const char* layer_name(Layer layer) {
  switch (layer) {
    case Layer::gzip:
      return "gzip";
    case Layer::zstd:
      return "zstd";
    case Layer::bzip2:
      return "bzip2";
    case Layer::xz:
      return "xz";
    case Layer::lz4:
      return "lz4";
    case Layer::tar:
      return "tar archive";
    case Layer::zip:
      return "zip archive";
  }
  return "";
}

std::unique_ptr<ByteSource> decompress(Layer layer, std::unique_ptr<PeekSource> below,
                                       const std::string& name) {
  if (layer == Layer::gzip) return make_gzip_source(std::move(below), name);
  if (layer == Layer::zstd) {
    skip_frames(*below, name);
    const auto next = find_layer(below->peek(512));
    if (below->peek(1).empty()) return below;
    if (next != Layer::zstd && next != Layer::lz4)
      throw InputError(name + ": the compressed data is damaged");
    layer = *next;
  }
#ifdef TESSERA_HAVE_LIBARCHIVE
  return make_filter_source(layer, std::move(below), name);
#else
  if (layer == Layer::zstd) return make_zstd_source(std::move(below), name);
  throw InputError(name + ": " + layer_name(layer) +
                   " needs a program built with libarchive; decompress it first");
#endif
}

#ifndef TESSERA_HAVE_LIBARCHIVE
std::vector<std::string> archive_members(std::unique_ptr<PeekSource>, const std::string& name) {
  throw InputError(name + ": archives need a program built with libarchive; unpack it first");
}
std::unique_ptr<ByteSource> open_archive_member(std::unique_ptr<PeekSource>, const std::string& name,
                                                const std::string&, std::size_t) {
  throw InputError(name + ": archives need a program built with libarchive; unpack it first");
}
std::unique_ptr<ByteSource> open_streamed_member(std::unique_ptr<PeekSource>, const std::string& name,
                                                 const std::string&) {
  throw InputError(name + ": archives need a program built with libarchive; unpack it first");
}
#endif

}  // namespace tessera
