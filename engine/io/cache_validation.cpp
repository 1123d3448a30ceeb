// One pass over what this rank uses: each piece is hashed and, while it is in the processor's cache, its
// elements are checked. Sections may be wrong in any way here, so no element is used as a position without a
// check. Each machine may have a copy of its own, of which another rank's checks say nothing.
#include "engine/io/cache_validation.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <span>
#include <vector>

#include "engine/io/cache_checksum.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// What is counted; all must be 0 but the descents, of which both counts must be equal.
enum Finding : std::size_t {
  kRowOffsetsOrder,
  kColumnRange,
  kWeightRange,
  kLabelOffsetsOrder,
  kLabelOrder,
  kDescents,           ///< columns larger than the next one, in the whole array
  kDescentsAtRowEnds,  ///< the same, only where one row ends and the next begins
  kNumFindings,
};
using Findings = std::array<std::uint64_t, kNumFindings>;

/// Pairs (i, i + 1), begin <= i < end, of which the second is not larger (or, `strict` false, smaller).
template <bool strict, class T>
std::uint64_t count_out_of_order(const T* values, std::size_t begin, std::size_t end) {
  std::uint64_t count = 0;
  for (std::size_t i = begin; i < end; ++i)
    count += strict ? values[i + 1] <= values[i] : values[i + 1] < values[i];
  return count;
}

/// The arrays of a file and the checks of a range of their elements.
class ElementChecks {
 public:
  ElementChecks(std::string_view file, const CacheHeader& header) : file_(file), header_(header) {}

  template <class T>
  std::span<const T> array(CacheSectionKind kind) const {
    const CacheSection& section = header_.sections[kind];
    return {reinterpret_cast<const T*>(file_.data() + section.offset), section.length / sizeof(T)};
  }

  /// Checks the elements whose bytes are [begin, end) of section `kind`, each with the one after it.
  Findings check(std::size_t kind, std::uint64_t begin, std::uint64_t end) const {
    Findings findings{};
    if (kind == kRowOffsets) check_row_offsets(begin / 8, end / 8, findings);
    if (kind == kColIndices) check_columns(begin / 4, end / 4, findings);
    if (kind == kWeights) check_weights(begin / 8, end / 8, findings);
    if (kind == kLabelIntegers) {
      const auto labels = array<std::uint64_t>(kLabelIntegers);
      findings[kLabelOrder] = count_out_of_order<true>(labels.data(), begin / 8,
                                                       std::min<std::size_t>(end / 8, labels.size() - 1));
    }
    if (kind == kLabelOffsets) check_strings(begin / 8, end / 8, findings);
    return findings;
  }

 private:
  void check_row_offsets(std::size_t begin, std::size_t end, Findings& findings) const {
    const auto offsets = array<EdgeOffset>(kRowOffsets);
    const auto columns = array<VertexId>(kColIndices);
    findings[kRowOffsetsOrder] =
        count_out_of_order<false>(offsets.data(), begin, std::min(end, offsets.size() - 1)) +
        (begin == 0 && offsets[0] != 0) + (end == offsets.size() && offsets.back() != columns.size());
    std::uint64_t descents = 0;
    for (std::size_t i = std::max<std::size_t>(begin, 1); i < end; ++i) {
      const EdgeOffset row = offsets[i];
      if (row == offsets[i - 1] || row == 0 || row >= columns.size()) continue;  // an empty row, or the end
      descents += columns[row] < columns[row - 1];
    }
    findings[kDescentsAtRowEnds] = descents;
  }

  void check_columns(std::size_t begin, std::size_t end, Findings& findings) const {
    const auto columns = array<VertexId>(kColIndices);
    const auto limit = static_cast<VertexId>(header_.num_vertices);
    // 32-bit counts for 32-bit elements: a piece has few enough, and they take half the vector registers.
    std::uint32_t outside = 0, descents = 0;
    const std::size_t last = std::min(end, columns.size() - 1);
    for (std::size_t i = begin; i < last; ++i) {
      outside += columns[i] >= limit;
      descents += columns[i + 1] < columns[i];
    }
    if (last < end) outside += columns[last] >= limit;
    findings[kColumnRange] = outside;
    findings[kDescents] = descents;
  }

  void check_weights(std::size_t begin, std::size_t end, Findings& findings) const {
    const auto weights = array<double>(kWeights);
    for (std::size_t i = begin; i < end; ++i)
      findings[kWeightRange] += !(weights[i] >= 0 && weights[i] <= std::numeric_limits<double>::max());
  }

  void check_strings(std::size_t begin, std::size_t end, Findings& findings) const {
    const auto offsets = array<std::uint64_t>(kLabelOffsets);
    const auto bytes = array<char>(kLabelBytes);
    findings[kLabelOffsetsOrder] =
        count_out_of_order<false>(offsets.data(), begin, std::min(end, offsets.size() - 1)) +
        (begin == 0 && offsets[0] != 0) + (end == offsets.size() && offsets.back() != bytes.size());
    for (std::size_t i = begin; i < end && i + 2 < offsets.size(); ++i) {
      const std::uint64_t a = offsets[i], b = offsets[i + 1], c = offsets[i + 2];
      if (a > b || b > c || c > bytes.size()) continue;  // counted already
      const std::string_view first(bytes.data() + a, b - a), second(bytes.data() + b, c - b);
      findings[kLabelOrder] += second <= first;
    }
  }

  std::string_view file_;
  const CacheHeader& header_;
};

/// Bytes of a section. This rank uses [begin, used_end) of its copy of the file, whose end others may use,
/// too; the pieces that begin in [begin, owned_end) nobody else answers for.
struct Window {
  std::uint64_t begin = 0, owned_end = 0, used_end = 0;
};

/// Of each section; those of columns, weights and label bytes are known when the offsets have been checked.
class Windows {
 public:
  Windows(const ElementChecks& checks, const CacheHeader& header, const CacheRows& rows, Communicator& comm)
      : checks_(checks), header_(header), rows_(rows), comm_(comm) {}

  Window of(std::size_t kind) const {
    if (header_.sections[kind].length == 0) return {};
    switch (kind) {
      case kRowOffsets:
      case kLabelOffsets:
        return of_offsets(header_.sections[kind].length);
      case kColIndices:
        return between(kRowOffsets, sizeof(VertexId));
      case kWeights:
        return between(kRowOffsets, sizeof(double));
      case kLabelIntegers:
        return {8 * rows_.first, 8 * rows_.last, 8 * rows_.last};
      case kLabelBytes:
        return between(kLabelOffsets, 1);
      default:  // the facts, which all ranks read
        return {0, comm_.is_root() ? header_.sections[kind].length : 0, header_.sections[kind].length};
    }
  }

 private:
  /// The end of the last row is the begin of the next rank's first one.
  Window of_offsets(std::uint64_t length) const {
    const bool is_last = comm_.rank() + 1 == comm_.size();
    return {8 * rows_.first, is_last ? length : 8 * rows_.last, 8 * (rows_.last + 1)};
  }
  Window between(CacheSectionKind offsets_kind, std::uint64_t element_bytes) const {
    const auto offsets = checks_.array<std::uint64_t>(offsets_kind);
    const std::uint64_t end = offsets[rows_.last] * element_bytes;
    return {offsets[rows_.first] * element_bytes, end, end};
  }

  const ElementChecks& checks_;
  const CacheHeader& header_;
  const CacheRows& rows_;
  Communicator& comm_;
};

/// One unit of work.
struct Piece {
  std::size_t kind;
  std::uint64_t begin, end;  ///< bytes of the section
};

Piece piece_at(const CacheHeader& header, std::size_t kind, std::uint64_t index) {
  const std::uint64_t begin = index * kChecksumPieceBytes;
  return {kind, begin, std::min(begin + kChecksumPieceBytes, header.sections[kind].length)};
}

[[noreturn]] void refuse_checksum(const std::string& path, std::size_t kind) {
  throw InputError(
      fmt::format("{}: section {}: its checksum is wrong; the file is damaged, make it again "
                  "with `tessera convert`",
                  path, cache_section_name(kind)));
}

/// Checks sections of this rank's copy as far as the rank uses them. Every piece is answered for by one rank,
/// which checks its elements, too; others that use some of it compare their checksum with that rank's.
class SectionChecks {
 public:
  SectionChecks(std::string_view file, const ElementChecks& checks, const CacheHeader& header,
                const std::string& path, Communicator& comm)
      : file_(file), checks_(checks), header_(header), path_(path), comm_(comm) {}

  /// Adds what is found in section `kind`, on any rank, to `all`. Throws when its checksum is wrong.
  /// Collective.
  void check(std::size_t kind, const Window& window, Findings& all) const {
    const std::uint64_t num_pieces = ceil_div(header_.sections[kind].length, kChecksumPieceBytes);
    const bool any_used = window.begin < window.used_end;
    const std::uint64_t first = any_used ? window.begin / kChecksumPieceBytes : 0;
    // And one more, with whose first elements the last ones are compared.
    const std::uint64_t last =
        any_used ? std::min(num_pieces, ceil_div(window.used_end, kChecksumPieceBytes) + 1) : 0;
    std::vector<std::uint64_t> mine(last - first);                 // checksums
    std::vector<std::uint64_t> totals(kNumFindings + num_pieces);  // findings, then all checksums
    std::array<std::atomic<std::uint64_t>, kNumFindings> found{};
    tbb::parallel_for(first, last, [&](std::uint64_t i) {
      const Piece piece = piece_at(header_, kind, i);
      mine[i - first] = checksum(piece);
      if (piece.begin < window.begin || piece.begin >= window.owned_end) return;
      totals[kNumFindings + i] = mine[i - first];
      const Findings findings = checks_.check(piece.kind, piece.begin, piece.end);
      for (std::size_t f = 0; f < kNumFindings; ++f)
        if (findings[f] != 0) found[f].fetch_add(findings[f], std::memory_order_relaxed);
    });
    std::copy(found.begin(), found.end(), totals.begin());
    comm_.all_sum(std::span(totals));  // one rank answers for a piece, the others have 0
    const auto checksums = std::span(totals).subspan(kNumFindings);
    const bool differs = !std::equal(mine.begin(), mine.end(), checksums.begin() + first);
    if (all_max(comm_, std::uint64_t{differs}) != 0 ||
        combined_checksum(checksums) != header_.sections[kind].checksum)
      refuse_checksum(path_, kind);
    for (std::size_t f = 0; f < kNumFindings; ++f) all[f] += totals[f];
  }

 private:
  std::uint64_t checksum(const Piece& piece) const {
    return piece_checksum(
        file_.substr(header_.sections[piece.kind].offset + piece.begin, piece.end - piece.begin));
  }

  std::string_view file_;
  const ElementChecks& checks_;
  const CacheHeader& header_;
  const std::string& path_;
  Communicator& comm_;
};

[[noreturn]] void refuse(const std::string& path, const char* what) {
  throw InputError(path + ": section " + what + "; make the cache again with `tessera convert`");
}

void judge_offsets(const Findings& found, const std::string& path) {
  if (found[kRowOffsetsOrder] != 0) refuse(path, "row_offsets: not ascending from 0 to the number of edges");
  if (found[kLabelOffsetsOrder] != 0)
    refuse(path, "label_offsets: not ascending from 0 to the number of label bytes");
}

void judge(const Findings& found, const std::string& path) {
  if (found[kColumnRange] != 0) refuse(path, "col_indices: a column is not below the number of vertices");
  if (found[kDescents] != found[kDescentsAtRowEnds])
    refuse(path, "col_indices: the columns of a row are not ascending");
  if (found[kWeightRange] != 0) refuse(path, "weights: a weight is negative or not finite");
  if (found[kLabelOrder] != 0) refuse(path, "labels: not ascending, or a label twice");
}

}  // namespace

void validate_cache(std::string_view file, const CacheHeader& header, const CacheRows& rows,
                    const std::string& path, Communicator& comm) {
  const ElementChecks checks(file, header);
  const Windows windows(checks, header, rows, comm);
  const SectionChecks sections(file, checks, header, path, comm);
  Findings found{};
  // Offsets first: where they are wrong, it is unknown which columns and labels a rank uses.
  for (const std::size_t kind : {kRowOffsets, kLabelOffsets}) sections.check(kind, windows.of(kind), found);
  judge_offsets(found, path);
  for (const std::size_t kind : {kColIndices, kWeights, kLabelIntegers, kLabelBytes, kFacts})
    sections.check(kind, windows.of(kind), found);
  judge(found, path);
}

}  // namespace tessera
