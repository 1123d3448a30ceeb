// Where edges come from while a graph is built or turned round: parsed pairs, or the rows of a graph. A
// source is cut into pieces that threads work on; pieces and the edges in them are in file order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/graph.hpp"
#include "engine/page_memory.hpp"
#include "engine/parsed_edges.hpp"
#include "kernels/csr_view.hpp"

namespace tessera {

inline constexpr std::uint64_t kEdgesPerPiece = std::uint64_t{1} << 18;

/// Which directed edges are made of an edge that was read.
struct EdgeRules {
  bool undirected = false;  ///< u -> v, then v -> u; a self-loop once
  bool reverse = false;     ///< v -> u instead of u -> v
  bool drop_loops = false;
};

/// Chunks with 32-bit keys; consumed piece by piece.
class PairSource {
 public:
  explicit PairSource(std::vector<EdgeChunk> chunks) : chunks_(std::move(chunks)) {
    for (std::uint32_t c = 0; c < chunks_.size(); ++c)
      for (std::uint64_t begin = 0; begin < chunks_[c].num_edges(); begin += kEdgesPerPiece)
        pieces_.push_back({c, begin, std::min(begin + kEdgesPerPiece, chunks_[c].num_edges())});
  }
  std::uint64_t num_pieces() const { return pieces_.size(); }
  std::uint64_t num_edges(std::uint64_t piece) const { return pieces_[piece].end - pieces_[piece].begin; }

  /// visit(source, target, weight) for each edge; weight is 0 in an unweighted source.
  template <bool kWeighted, class Visit>
  void for_each(std::uint64_t piece, Visit visit) const {
    const Piece& p = pieces_[piece];
    const std::uint32_t* pairs = chunks_[p.chunk].pairs.data();
    const double* weights = chunks_[p.chunk].weights.data();
    for (std::uint64_t i = p.begin; i < p.end; ++i) {
      if constexpr (kWeighted)
        visit(pairs[2 * i], pairs[2 * i + 1], weights[i]);
      else
        visit(pairs[2 * i], pairs[2 * i + 1], 0.0);
    }
  }
  /// The piece is not needed any more.
  void release(std::uint64_t piece) {
    const Piece& p = pieces_[piece];
    EdgeChunk& chunk = chunks_[p.chunk];
    release_pages(chunk.pairs.data() + 2 * p.begin, (p.end - p.begin) * 2 * sizeof(std::uint32_t));
    if (!chunk.weights.empty())
      release_pages(chunk.weights.data() + p.begin, (p.end - p.begin) * sizeof(double));
  }
  /// Nothing is needed any more.
  void clear() {
    pieces_.clear();
    chunks_.clear();
  }

 private:
  struct Piece {
    std::uint32_t chunk;
    std::uint64_t begin, end;
  };
  std::vector<EdgeChunk> chunks_;
  std::vector<Piece> pieces_;
};

/// The edges of a graph's rows, row after row; stays as it is.
class GraphSource {
 public:
  explicit GraphSource(const Graph& graph)
      : GraphSource(graph.in_edges(), graph.first_row, 0, graph.num_vertices) {}
  /// Of all rows, whose columns ascend, the edges from the vertices [begin, end).
  GraphSource(const CsrView<double>& all, std::uint64_t begin, std::uint64_t end)
      : GraphSource(all, 0, begin, end) {}
  std::uint64_t num_pieces() const { return first_rows_.size() - 1; }
  /// At most.
  std::uint64_t num_edges(std::uint64_t piece) const {
    return rows_.row_offsets[first_rows_[piece + 1]] - rows_.row_offsets[first_rows_[piece]];
  }
  template <bool kWeighted, class Visit>
  void for_each(std::uint64_t piece, Visit visit) const {
    for (std::uint64_t row = first_rows_[piece]; row < first_rows_[piece + 1]; ++row) {
      const auto target = static_cast<VertexId>(first_row_ + row);
      const auto [first, last] = edges_of(row);
      for (EdgeOffset e = first; e < last; ++e)
        visit(rows_.col_indices[e], target, kWeighted ? rows_.values[e] : 0.0);
    }
  }
  void release(std::uint64_t) {}
  void clear() {}

 private:
  GraphSource(const CsrView<double>& rows, std::uint64_t first_row, std::uint64_t begin, std::uint64_t end)
      : rows_(rows), first_row_(first_row), begin_(begin), end_(end) {
    first_rows_.push_back(0);
    std::uint64_t before = 0;
    for (std::uint64_t row = 0; row < rows.num_rows; ++row)
      if (rows.row_offsets[row + 1] - before >= kEdgesPerPiece || row + 1 == rows.num_rows) {
        first_rows_.push_back(row + 1);
        before = rows.row_offsets[row + 1];
      }
  }
  std::pair<EdgeOffset, EdgeOffset> edges_of(std::uint64_t row) const {
    const EdgeOffset first = rows_.row_offsets[row], last = rows_.row_offsets[row + 1];
    if (begin_ == 0 && end_ == rows_.num_cols) return {first, last};
    const VertexId *columns = rows_.col_indices,
                   *from = std::lower_bound(columns + first, columns + last, begin_);
    return {static_cast<EdgeOffset>(from - columns),
            static_cast<EdgeOffset>(std::lower_bound(from, columns + last, end_) - columns)};
  }

  const CsrView<double> rows_;
  const std::uint64_t first_row_, begin_, end_;
  std::vector<std::uint64_t> first_rows_;
};

/// Directed edges of a piece under `rules`: visit(source, target, weight). Returns the self-loops seen.
template <bool kWeighted, class Source, class Visit>
std::uint64_t for_each_directed(const Source& source, std::uint64_t piece, const EdgeRules& rules,
                                Visit visit) {
  std::uint64_t loops = 0;
  auto each = [&](auto both, auto swapped) {
    source.template for_each<kWeighted>(piece, [&](std::uint32_t u, std::uint32_t v, double weight) {
      if constexpr (swapped) std::swap(u, v);
      if (u == v) {
        ++loops;
        if (rules.drop_loops) return;
      } else if constexpr (both) {
        visit(u, v, weight);
        std::swap(u, v);
      }
      visit(u, v, weight);
    });
  };
  using Yes = std::true_type;
  using No = std::false_type;
  if (rules.undirected)
    rules.reverse ? each(Yes(), Yes()) : each(Yes(), No());
  else
    rules.reverse ? each(No(), Yes()) : each(No(), No());
  return loops;
}

}  // namespace tessera
