// The first 512 bytes of a cache file: what the file claims to hold and where. Every claim is checked against
// the length of the file before anything is read or allocated. Layout: docs/cache-format.md.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/graph_options.hpp"
#include "engine/label_table.hpp"

namespace tessera {

static_assert(std::endian::native == std::endian::little, "the cache is mapped, not converted");

inline constexpr std::string_view kCacheMagic{"\x89TSR\r\n\x1a\n", 8};
inline constexpr std::uint32_t kCacheVersion = 1;
inline constexpr std::uint32_t kCacheEndianMark = 0x01020304;
inline constexpr std::uint64_t kCacheHeaderBytes = 512;

/// Positions in CacheHeader::sections.
enum CacheSectionKind : std::uint32_t {
  kRowOffsets,     ///< u64, num_vertices + 1
  kColIndices,     ///< u32, num_edges
  kWeights,        ///< f64, num_edges; weighted only
  kLabelIntegers,  ///< u64, num_vertices; label kind integer only
  kLabelOffsets,   ///< u64, num_vertices + 1; label kind string only
  kLabelBytes,     ///< label kind string only
  kFacts,          ///< JSON
  kNumCacheSections,
};

struct CacheSection {
  std::uint64_t offset = 0;  ///< of the file; 0 when absent
  std::uint64_t length = 0;  ///< in bytes
  std::uint64_t checksum = 0;
};

struct CacheHeader {
  static constexpr std::uint32_t kWeightedFlag = 1, kUndirectedFlag = 2, kReversedFlag = 4;

  std::array<char, 8> magic{};
  std::uint32_t version = kCacheVersion;
  std::uint32_t endian_mark = kCacheEndianMark;
  std::uint64_t file_bytes = 0;
  std::uint64_t num_vertices = 0;
  std::uint64_t num_edges = 0;
  std::uint64_t first_label = 0;
  std::uint32_t flags = 0;
  LabelKind label_kind = LabelKind::range;
  std::uint32_t duplicates = 0;  ///< enum Duplicates
  std::uint32_t num_sections = kNumCacheSections;
  std::array<CacheSection, kNumCacheSections> sections{};
  std::array<std::uint64_t, 34> reserved{};  ///< zero
  std::uint64_t checksum = 0;                ///< XXH3-64 of all bytes before it

  bool weighted() const { return (flags & kWeightedFlag) != 0; }
  bool undirected() const { return (flags & kUndirectedFlag) != 0; }
  bool reversed() const { return (flags & kReversedFlag) != 0; }
};
static_assert(sizeof(CacheHeader) == kCacheHeaderBytes);

const char* cache_section_name(std::size_t kind);
/// XXH3-64 of the header without its last field.
std::uint64_t cache_header_checksum(const CacheHeader& header);
/// Sets lengths from the counts (label_bytes and facts_bytes are not known from them), then offsets and
/// file_bytes.
void lay_out_cache(CacheHeader& header, std::uint64_t label_bytes, std::uint64_t facts_bytes);

/// The header of a file of `file_bytes` that begins with `start` (its first 512 bytes, or all of a shorter
/// file). Throws InputError "PATH: ..." naming the field when any claim is wrong.
CacheHeader read_cache_header(std::string_view start, std::uint64_t file_bytes, const std::string& path);

}  // namespace tessera
