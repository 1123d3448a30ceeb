// The tile-composite product on the CPU: tile after tile, so that a tile's part of x stays in each core's
// L2 while it is worked on, and so that every row receives its tiles' sums in tile order. Inside a tile a
// row occurs once, so threads never write the same y.
#include <algorithm>

#include "kernels/cpu/cpu_row_sum.hpp"
#include "kernels/cpu/cpu_spmv.hpp"
#include "kernels/cpu/cpu_threads.hpp"

namespace tessera::cpu {
namespace {

/// What the rows of one workload share.
template <class S, class Offset>
struct Piece {
  const Offset* offsets;
  const S* values;  // null when pattern-only
  const S* x;       // of the tile
  const VertexId* rows;
  std::uint64_t num_rows, width;
  std::uint64_t row_step, stride;  // distance between rows, and between elements of a row
};

template <class S, class Offset>
Piece<S, Offset> piece_of(const Workload& w, const Offset* offsets, const S* values, const S* x,
                          const VertexId* row_ids) {
  const std::uint64_t row_step = element_index(w, 1, 0) - w.first_element;
  const std::uint64_t stride = element_index(w, 0, 1) - w.first_element;
  return {offsets + w.first_element,
          values == nullptr ? nullptr : values + w.first_element,
          x,
          row_ids + w.first_row,
          w.num_rows,
          w.width,
          row_step,
          stride};
}

template <unsigned kWidth, bool kWeighted, class S, class Offset>
void short_rows(const Piece<S, Offset>& p, double* y) {
  for (std::uint64_t r = 0; r < p.num_rows; ++r)
    y[p.rows[r]] += short_row_sum<kWidth, kWeighted>(
        p.offsets + r * p.row_step, p.values + (kWeighted ? r * p.row_step : 0), p.stride, p.x);
}

template <bool kWeighted, class S, class Offset>
void add_piece(const Piece<S, Offset>& p, double* y) {
  if (with_short_width(p.width, [&](auto width) { short_rows<width, kWeighted>(p, y); })) return;
  for (std::uint64_t r = 0; r < p.num_rows; ++r)
    y[p.rows[r]] += row_sum<kWeighted>(p.offsets + r * p.row_step,
                                       p.values + (kWeighted ? r * p.row_step : 0), p.stride, p.width, p.x);
}

template <bool kWeighted, class S, class Offset>
void add_piece_block(const Piece<S, Offset>& p, unsigned num_vectors, double* y) {
  const std::uint64_t rows_ahead = ceil_div(kElementsAhead, std::max<std::uint64_t>(p.width, 1));
  const auto ask_ahead = [&](std::uint64_t r) {
    ask_for_row(p.offsets + r * p.row_step, p.stride, p.width, p.x, num_vectors);
    ask_for(y + std::uint64_t{p.rows[r]} * num_vectors, num_vectors);
  };
  for (std::uint64_t r = 0; r < std::min(rows_ahead, p.num_rows); ++r) ask_ahead(r);
  for (std::uint64_t r = 0; r < p.num_rows; ++r) {
    if (r + rows_ahead < p.num_rows) ask_ahead(r + rows_ahead);
    add_row_sums_block<kWeighted>(p.offsets + r * p.row_step, p.values + (kWeighted ? r * p.row_step : 0),
                                  p.stride, p.width, p.x, num_vectors,
                                  y + std::uint64_t{p.rows[r]} * num_vectors);
  }
}

template <bool kWeighted, class S, class Offset>
void add_tile(const TileCompositeView<S>& a, const Tile& tile, const Offset* offsets, const S* values,
              const S* x, unsigned num_vectors, double* y) {
  const S* tile_x = x + tile.first_slot * num_vectors;
#pragma omp for schedule(guided, 4)
  for (std::uint64_t i = 0; i < tile.num_workloads; ++i) {
    const auto piece = piece_of(a.workloads[tile.first_workload + i], offsets, values, tile_x, a.row_ids);
    if (num_vectors == 1)
      add_piece<kWeighted>(piece, y);
    else
      add_piece_block<kWeighted>(piece, num_vectors, y);
  }
}

template <bool kWeighted, class S>
void add_all_tiles(const TileCompositeView<S>& a, const S* x, double* y, unsigned num_vectors) {
  for (std::uint64_t t = 0; t < a.num_tiles; ++t) {
    const Tile& tile = a.tiles[t];
    if (tile.wide)
      add_tile<kWeighted>(a, tile, a.offsets32, a.values32, x, num_vectors, y);
    else
      add_tile<kWeighted>(a, tile, a.offsets16, a.values16, x, num_vectors, y);
  }
}

/// Stored elements, padding included: dense tiles and the remainder end with their last workload.
template <class S>
std::uint64_t num_stored(const TileCompositeView<S>& a) {
  std::uint64_t narrow = 0, wide = 0;
  for (std::uint64_t t = 0; t < a.num_tiles; ++t) {
    const Tile& tile = a.tiles[t];
    if (tile.num_workloads == 0) continue;
    const Workload& last = a.workloads[tile.first_workload + tile.num_workloads - 1];
    (tile.wide ? wide : narrow) = last.first_element + std::uint64_t{last.width} * last.height;
  }
  return narrow + wide;
}

}  // namespace

template <class S>
void spmv(const TileCompositeView<S>& a, const S* x, double* y, unsigned num_vectors) {
  const bool weighted = a.values16 != nullptr || a.values32 != nullptr;
  const std::uint64_t size = a.num_rows * num_vectors;
#pragma omp parallel if (pays_threads(num_stored(a) * num_vectors))
  {
#pragma omp for schedule(static)
    for (std::uint64_t i = 0; i < size; ++i) y[i] = 0;
    if (weighted)
      add_all_tiles<true>(a, x, y, num_vectors);
    else
      add_all_tiles<false>(a, x, y, num_vectors);
  }
}

template void spmv(const TileCompositeView<float>&, const float*, double*, unsigned);
template void spmv(const TileCompositeView<double>&, const double*, double*, unsigned);

}  // namespace tessera::cpu
