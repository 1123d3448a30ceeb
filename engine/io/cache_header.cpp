#include "engine/io/cache_header.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t kSectionAlignment = 64;  // a cache line: what vector loads like
constexpr std::uint64_t kLargeAlignment = 4096;  // a page, for sections of a MiB and more
constexpr std::uint64_t kLargeSection = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxFactsBytes = std::uint64_t{1} << 20;

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw InputError(path + ": " + reason + "; make the cache again with `tessera convert`");
}

/// Bytes that a section must have; label bytes and facts say their own.
std::uint64_t expected_length(const CacheHeader& header, std::size_t kind) {
  const bool integers = header.label_kind == LabelKind::integer,
             strings = header.label_kind == LabelKind::string;
  switch (kind) {
    case kRowOffsets:
      return (header.num_vertices + 1) * sizeof(EdgeOffset);
    case kColIndices:
      return header.num_edges * sizeof(VertexId);
    case kWeights:
      return header.weighted() ? header.num_edges * sizeof(double) : 0;
    case kLabelIntegers:
      return integers ? header.num_vertices * sizeof(std::uint64_t) : 0;
    case kLabelOffsets:
      return strings ? (header.num_vertices + 1) * sizeof(std::uint64_t) : 0;
    case kLabelBytes:
      return strings ? header.sections[kLabelBytes].length : 0;
    default:
      return header.sections[kFacts].length;
  }
}

void check_identity(const CacheHeader& header, std::uint64_t file_bytes, const std::string& path) {
  if (header.version != kCacheVersion)
    refuse(path,
           fmt::format("cache version {}, but this program reads version {}", header.version, kCacheVersion));
  if (header.endian_mark != kCacheEndianMark)
    refuse(path,
           fmt::format("endian mark {:#010x}, expected {:#010x}: made on a machine of another byte order",
                       header.endian_mark, kCacheEndianMark));
  if (header.file_bytes > file_bytes)
    refuse(path, fmt::format("truncated: the header says {} bytes, the file has {}", header.file_bytes,
                             file_bytes));
  if (header.file_bytes < file_bytes)
    refuse(path, fmt::format("{} bytes after the end that the header names (byte {})",
                             file_bytes - header.file_bytes, header.file_bytes));
  if (header.checksum != cache_header_checksum(header)) refuse(path, "the checksum of the header is wrong");
}

/// Keeps later products of counts and element sizes far below 2^64.
void check_counts(const CacheHeader& header, const std::string& path) {
  const auto fail = [&](const char* field, std::uint64_t value, const char* expected) {
    refuse(path, fmt::format("header field {} is {}, expected {}", field, value, expected));
  };
  constexpr std::uint32_t kKnownFlags =
      CacheHeader::kWeightedFlag | CacheHeader::kUndirectedFlag | CacheHeader::kReversedFlag;
  if (header.num_vertices > kMaxVertices) fail("num_vertices", header.num_vertices, "less than 2^32 - 1");
  if (header.num_edges > header.file_bytes / sizeof(VertexId))
    fail("num_edges", header.num_edges, "no more than the file has room for");
  if ((header.flags & ~kKnownFlags) != 0) fail("flags", header.flags, "no bits but the lowest three");
  if (static_cast<std::uint32_t>(header.label_kind) > 2)
    fail("label_kind", static_cast<std::uint32_t>(header.label_kind), "0, 1 or 2");
  if (header.duplicates > 2) fail("duplicates", header.duplicates, "0, 1 or 2");
  if (header.num_sections != kNumCacheSections) fail("num_sections", header.num_sections, "7");
  const bool range = header.label_kind == LabelKind::range;
  if (range ? header.first_label > ~header.num_vertices : header.first_label != 0)
    fail("first_label", header.first_label, range ? "labels below 2^64" : "0 for these labels");
  if (std::any_of(header.reserved.begin(), header.reserved.end(),
                  [](std::uint64_t word) { return word != 0; }))
    refuse(path, "reserved header bytes are not zero");
}

void check_sections(const CacheHeader& header, const std::string& path) {
  std::uint64_t end = kCacheHeaderBytes;
  for (std::size_t kind = 0; kind < kNumCacheSections; ++kind) {
    const CacheSection& section = header.sections[kind];
    const auto fail = [&](const std::string& what) {
      refuse(path, fmt::format("section {}: {}", cache_section_name(kind), what));
    };
    const std::uint64_t expected = expected_length(header, kind);
    if (section.length != expected)
      fail(fmt::format("{} bytes long, expected {} for {} vertices and {} edges", section.length, expected,
                       header.num_vertices, header.num_edges));
    if (section.length == 0) continue;
    if (section.offset % kSectionAlignment != 0)
      fail(fmt::format("at byte {}, which is not a multiple of {}", section.offset, kSectionAlignment));
    if (section.offset < end)
      fail(fmt::format("at byte {}, overlaps what ends at byte {}", section.offset, end));
    if (section.offset > header.file_bytes || section.length > header.file_bytes - section.offset)
      fail(fmt::format("{} bytes at byte {}, beyond the end of the file at byte {}", section.length,
                       section.offset, header.file_bytes));
    end = section.offset + section.length;
  }
  if (header.sections[kFacts].length > kMaxFactsBytes) refuse(path, "section facts: longer than 1 MiB");
}

}  // namespace

const char* cache_section_name(std::size_t kind) {
  constexpr std::array<const char*, kNumCacheSections> kNames{
      "row_offsets", "col_indices", "weights", "label_integers", "label_offsets", "label_bytes", "facts"};
  return kNames[kind];
}

std::uint64_t cache_header_checksum(const CacheHeader& header) {
  return XXH3_64bits(&header, offsetof(CacheHeader, checksum));
}

void lay_out_cache(CacheHeader& header, std::uint64_t label_bytes, std::uint64_t facts_bytes) {
  header.sections[kLabelBytes].length = label_bytes;
  header.sections[kFacts].length = facts_bytes;
  std::uint64_t end = kCacheHeaderBytes;
  for (std::size_t kind = 0; kind < kNumCacheSections; ++kind) {
    CacheSection& section = header.sections[kind];
    section.length = expected_length(header, kind);
    if (section.length == 0) continue;
    section.offset = round_up(end, section.length >= kLargeSection ? kLargeAlignment : kSectionAlignment);
    end = section.offset + section.length;
  }
  header.file_bytes = end;
}

CacheHeader read_cache_header(std::string_view start, std::uint64_t file_bytes, const std::string& path) {
  if (!start.starts_with(kCacheMagic)) {
    if (kCacheMagic.starts_with(start))
      refuse(path, fmt::format("truncated: {} bytes, a header has {}", file_bytes, kCacheHeaderBytes));
    throw InputError(path + ": not a tessera cache (wrong magic bytes)");
  }
  if (start.size() < kCacheHeaderBytes)
    refuse(path, fmt::format("truncated: {} bytes, a header has {}", file_bytes, kCacheHeaderBytes));
  CacheHeader header;
  std::memcpy(&header, start.data(), sizeof header);
  check_identity(header, file_bytes, path);
  check_counts(header, path);
  check_sections(header, path);
  return header;
}

}  // namespace tessera
