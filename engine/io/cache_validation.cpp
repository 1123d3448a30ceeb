// One pass over the file: each piece is hashed and, while it is in the processor's cache, its elements are
// checked. Sections may be wrong in any way here, so no element is used as a position without a check.
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

/// One unit of work.
struct Piece {
  std::size_t kind;
  std::uint64_t begin, end;  ///< bytes of the section
};

std::vector<Piece> cut_into_pieces(const CacheHeader& header) {
  std::vector<Piece> pieces;
  for (std::size_t kind = 0; kind < kNumCacheSections; ++kind)
    for (std::uint64_t begin = 0; begin < header.sections[kind].length; begin += kChecksumPieceBytes)
      pieces.push_back({kind, begin, std::min(begin + kChecksumPieceBytes, header.sections[kind].length)});
  return pieces;
}

void judge(const Findings& found, const std::string& path) {
  const auto refuse = [&](const char* what) {
    throw InputError(path + ": section " + what + "; make the cache again with `tessera convert`");
  };
  if (found[kRowOffsetsOrder] != 0) refuse("row_offsets: not ascending from 0 to the number of edges");
  if (found[kColumnRange] != 0) refuse("col_indices: a column is not below the number of vertices");
  if (found[kDescents] != found[kDescentsAtRowEnds])
    refuse("col_indices: the columns of a row are not ascending");
  if (found[kWeightRange] != 0) refuse("weights: a weight is negative or not finite");
  if (found[kLabelOffsetsOrder] != 0)
    refuse("label_offsets: not ascending from 0 to the number of label bytes");
  if (found[kLabelOrder] != 0) refuse("labels: not ascending, or a label twice");
}

}  // namespace

void validate_cache(std::string_view file, const CacheHeader& header, const std::string& path,
                    Communicator& comm) {
  const std::vector<Piece> pieces = cut_into_pieces(header);
  const ElementChecks checks(file, header);
  std::vector<std::uint64_t> totals(kNumFindings +
                                    pieces.size());  // findings, then a checksum for each piece
  std::array<std::atomic<std::uint64_t>, kNumFindings> found{};
  const std::size_t first = pieces.size() * comm.rank() / comm.size();
  const std::size_t last = pieces.size() * (comm.rank() + 1) / comm.size();
  tbb::parallel_for(first, last, [&](std::size_t i) {
    const Piece& piece = pieces[i];
    const std::uint64_t offset = header.sections[piece.kind].offset;
    totals[kNumFindings + i] = piece_checksum(file.substr(offset + piece.begin, piece.end - piece.begin));
    const Findings findings = checks.check(piece.kind, piece.begin, piece.end);
    for (std::size_t f = 0; f < kNumFindings; ++f)
      if (findings[f] != 0) found[f].fetch_add(findings[f], std::memory_order_relaxed);
  });
  std::copy(found.begin(), found.end(), totals.begin());
  comm.all_sum(std::span(totals));  // every checksum was computed by one rank and is 0 on the others

  std::size_t next = kNumFindings;
  for (std::size_t kind = 0; kind < kNumCacheSections; ++kind) {
    const std::size_t count = ceil_div(header.sections[kind].length, kChecksumPieceBytes);
    if (combined_checksum(std::span(totals).subspan(next, count)) != header.sections[kind].checksum)
      throw InputError(
          fmt::format("{}: section {}: its checksum is wrong; the file is damaged, make it again "
                      "with `tessera convert`",
                      path, cache_section_name(kind)));
    next += count;
  }
  Findings all{};
  std::copy_n(totals.begin(), kNumFindings, all.begin());
  judge(all, path);
}

}  // namespace tessera
