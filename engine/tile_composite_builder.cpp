#include "engine/tile_composite_builder.hpp"

#include <algorithm>
#include <numeric>

#include "engine/perf_model.hpp"
#include "engine/region_failure.hpp"
#include "engine/row_pieces.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Puts the pieces of one tile longest first, rows ascending among equals.
void rank_pieces(std::span<RowPiece> pieces) {
  std::uint32_t longest = 0;
  for (const RowPiece& piece : pieces) longest = std::max(longest, piece.length);
  if (longest > 4 * pieces.size() + 65536) {
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const RowPiece& a, const RowPiece& b) { return a.length > b.length; });
    return;
  }
  std::vector<std::uint64_t> first(std::size_t{longest} + 2, 0);
  for (const RowPiece& piece : pieces) ++first[longest - piece.length + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  const std::vector<RowPiece> unranked(pieces.begin(), pieces.end());
  for (const RowPiece& piece : unranked) pieces[first[longest - piece.length]++] = piece;
}

/// A tile's workloads, with element and row positions that start at 0.
struct PackedTile {
  std::vector<Workload> workloads;
  EdgeOffset num_elements = 0, num_stored = 0;
};

/// Ranks the pieces on the way.
PackedTile pack_tile(std::span<RowPiece> pieces, const TilingLimits& limits, const PerfTable& table) {
  PackedTile packed;
  rank_pieces(pieces);
  std::vector<std::uint32_t> lengths(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    lengths[i] = pieces[i].length;
    packed.num_elements += lengths[i];
  }
  const WorkloadChoice choice = choose_workload_size(lengths, limits, table);
  for (std::uint64_t row = 0; row < lengths.size();) {
    Workload w = next_workload(lengths[row], lengths.size() - row, choice.workload_size, limits.warp_width);
    w.first_row = row;
    w.first_element = packed.num_stored;
    packed.num_stored += stored_elements(w);
    row += w.num_rows;
    packed.workloads.push_back(w);
  }
  return packed;
}

/// Copies the pieces of one workload to their places; everything else points to the zero slot.
template <class S, class Offset>
void fill_workload(const Workload& w, std::span<const RowPiece> ranked, Offset zero_slot, const Offset* from,
                   const S* from_values, Offset* to, S* to_values) {
  auto put = [&](std::uint64_t row, std::uint64_t k, Offset offset, S value) {
    const EdgeOffset position = element_index(w, row, k);
    to[position] = offset;
    if (to_values != nullptr) to_values[position] = value;
  };
  for (std::uint64_t row = 0; row < w.height; ++row) {
    const RowPiece piece = row < w.num_rows ? ranked[row] : RowPiece{};
    for (std::uint64_t k = 0; k < piece.length; ++k)
      put(row, k, from[piece.first + k], from_values != nullptr ? from_values[piece.first + k] : S{0});
    for (std::uint64_t k = piece.length; k < w.width; ++k) put(row, k, zero_slot, S{0});
  }
}

template <class S>
class Builder {
 public:
  Builder(const CsrView<double>& csr, std::span<const VertexId> rows, const ColumnOrder& columns,
          const TilingLimits& limits, const PerfTable& table)
      : columns_(columns), pieces_(cut_rows<S>(csr, rows, columns)), packed_(columns.tiles.size()) {
    result_.num_rows = rows.size();
    result_.num_slots = columns.num_slots;
    const auto num_tiles = static_cast<std::ptrdiff_t>(columns.tiles.size());
    RegionFailure failure;
#pragma omp parallel for schedule(dynamic, 1)
    for (std::ptrdiff_t t = 0; t < num_tiles; ++t)
      failure.guard([&] { packed_[t] = pack_tile(pieces_of(t), limits, table); });
    failure.rethrow();
  }

  TileComposite<S> run() {
    allocate();
    for (std::size_t t = 0; t < packed_.size(); ++t) {
      if (columns_.tiles[t].wide)
        fill(t, pieces_.offsets32, pieces_.values32, result_.offsets32, result_.values32);
      else
        fill(t, pieces_.offsets16, pieces_.values16, result_.offsets16, result_.values16);
    }
    finish_stats();
    return std::move(result_);
  }

 private:
  std::span<RowPiece> pieces_of(std::size_t t) {
    return pieces_.pieces.span().subspan(pieces_.first_of_tile[t],
                                         pieces_.first_of_tile[t + 1] - pieces_.first_of_tile[t]);
  }

  /// Gives every tile its place in the shared arrays.
  void allocate() {
    std::uint64_t num_workloads = 0, num_rows = 0, narrow = 0, wide = 0;
    result_.tiles = Buffer<Tile>(packed_.size());
    for (std::size_t t = 0; t < packed_.size(); ++t) {
      Tile tile = columns_.tiles[t];
      tile.first_workload = num_workloads;
      tile.num_workloads = packed_[t].workloads.size();
      result_.tiles[t] = tile;
      EdgeOffset& elements = tile.wide ? wide : narrow;
      for (Workload& w : packed_[t].workloads) {
        w.first_row += num_rows;
        w.first_element += elements;
      }
      elements += packed_[t].num_stored;
      num_workloads += tile.num_workloads;
      num_rows += pieces_of(t).size();
    }
    const bool weighted = !pieces_.values16.empty() || !pieces_.values32.empty();
    result_.workloads = Buffer<Workload>(num_workloads);
    result_.row_ids = Buffer<VertexId>(num_rows);
    result_.offsets16 = Buffer<std::uint16_t>(narrow);
    result_.offsets32 = Buffer<std::uint32_t>(wide);
    if (weighted) result_.values16 = Buffer<S>(narrow);
    if (weighted) result_.values32 = Buffer<S>(wide);
  }

  template <class Offset>
  void fill(std::size_t t, const Buffer<Offset>& from, const Buffer<S>& from_values, Buffer<Offset>& to,
            Buffer<S>& to_values) {
    const Tile& tile = result_.tiles[t];
    const std::span<const RowPiece> ranked = pieces_of(t);
    const auto zero_slot = static_cast<Offset>(tile.num_columns);
    const std::uint64_t first_row = tile.num_workloads == 0 ? 0 : packed_[t].workloads.front().first_row;
#pragma omp parallel for schedule(dynamic, 1)
    for (std::uint64_t i = 0; i < tile.num_workloads; ++i) {
      const Workload& w = packed_[t].workloads[i];
      result_.workloads[tile.first_workload + i] = w;
      const auto rows = ranked.subspan(w.first_row - first_row, w.num_rows);
      for (std::size_t r = 0; r < rows.size(); ++r) result_.row_ids[w.first_row + r] = rows[r].row;
      fill_workload<S, Offset>(w, rows, zero_slot, from.data(),
                               from_values.empty() ? nullptr : from_values.data(), to.data(),
                               to_values.empty() ? nullptr : to_values.data());
    }
    result_.stats.num_nonzeros += packed_[t].num_elements;
    packed_[t] = {};
  }

  void finish_stats() {
    PackingStats& stats = result_.stats;
    stats.num_stored = result_.offsets16.size() + result_.offsets32.size();
    stats.num_row_pieces = result_.row_ids.size();
    stats.num_tiles = result_.tiles.size();
    stats.num_workloads = result_.workloads.size();
    stats.bytes = result_.tiles.size_bytes() + result_.workloads.size_bytes() + result_.row_ids.size_bytes() +
                  result_.offsets16.size_bytes() + result_.offsets32.size_bytes() +
                  result_.values16.size_bytes() + result_.values32.size_bytes();
  }

  const ColumnOrder& columns_;
  RowPieces<S> pieces_;
  std::vector<PackedTile> packed_;
  TileComposite<S> result_;
};

}  // namespace

template <class S>
TileComposite<S> build_tile_composite(const CsrView<double>& csr, std::span<const VertexId> rows,
                                      const ColumnOrder& columns, const TilingLimits& limits,
                                      const PerfTable& table) {
  require(columns.kind == ColumnOrderKind::by_length, "tile-composite needs columns ordered by length");
  return Builder<S>(csr, rows, columns, limits, table).run();
}

template <class S>
CsrMatrix<S> build_csr_matrix(const CsrView<double>& csr, std::span<const VertexId> rows,
                              const ColumnOrder& columns) {
  CsrMatrix<S> result;
  result.num_rows = rows.size();
  result.num_slots = columns.num_slots;
  result.row_offsets = Buffer<EdgeOffset>(rows.size() + 1);
  result.row_offsets[0] = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    result.row_offsets[i + 1] =
        result.row_offsets[i] + csr.row_offsets[rows[i] + 1] - csr.row_offsets[rows[i]];
  const EdgeOffset num_nonzeros = result.row_offsets[rows.size()];
  result.col_indices = Buffer<VertexId>(num_nonzeros);
  if (csr.values != nullptr) result.values = Buffer<S>(num_nonzeros);
#pragma omp parallel for schedule(dynamic, 512)
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const EdgeOffset from = csr.row_offsets[rows[i]], to = result.row_offsets[i];
    for (std::uint64_t k = 0; k < result.row_offsets[i + 1] - to; ++k) {
      result.col_indices[to + k] = columns.slot_of_column[csr.col_indices[from + k]];
      if (csr.values != nullptr) result.values[to + k] = static_cast<S>(csr.values[from + k]);
    }
  }
  result.stats = {.num_nonzeros = num_nonzeros,
                  .num_stored = num_nonzeros,
                  .num_row_pieces = rows.size(),
                  .bytes = result.row_offsets.size_bytes() + result.col_indices.size_bytes() +
                           result.values.size_bytes()};
  return result;
}

template TileComposite<float> build_tile_composite(const CsrView<double>&, std::span<const VertexId>,
                                                   const ColumnOrder&, const TilingLimits&, const PerfTable&);
template TileComposite<double> build_tile_composite(const CsrView<double>&, std::span<const VertexId>,
                                                    const ColumnOrder&, const TilingLimits&,
                                                    const PerfTable&);
template CsrMatrix<float> build_csr_matrix(const CsrView<double>&, std::span<const VertexId>,
                                           const ColumnOrder&);
template CsrMatrix<double> build_csr_matrix(const CsrView<double>&, std::span<const VertexId>,
                                            const ColumnOrder&);

}  // namespace tessera
