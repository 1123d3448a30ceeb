// kernels/cuda/graph_preparation.hpp for any memory; the host is where it is tested without a device, but for
// what docs/design.md names.
#pragma once
#include <thrust/transform_reduce.h>

#include "kernels/column_slots.hpp"
#include "kernels/cuda/graph_preparation.hpp"
#include "kernels/cuda/key_counts.cuh"
#include "kernels/cuda/messages_build.cuh"
#include "kernels/cuda/sorted_elements.cuh"

namespace tessera::cuda {

template <class Memory>
PatternCsr csr_of_edges(std::uint64_t num_vertices, std::uint64_t num_edges, const VertexId* rows,
                        const VertexId* cols) {
  if (num_edges >= kNoVertex) throw ResourceError("more than 2^32 edges at once; use several GPUs");
  SortedElements<Memory> sorted = sorted_elements<Memory>(num_vertices, num_edges, rows, cols);
  return {num_vertices, Memory::as_buffer(std::move(sorted.row_offsets)),
          Memory::as_buffer(std::move(sorted.col_indices))};
}

/// What a look at all vertices finds. Of one type, as padding would be copied from a device without ever
/// being written.
struct VertexFindings {
  std::uint64_t longest_column = 0, longest_row = 0, num_inputs = 0;

  __host__ __device__ friend VertexFindings operator+(const VertexFindings& a, const VertexFindings& b) {
    return {a.longest_column < b.longest_column ? b.longest_column : a.longest_column,
            a.longest_row < b.longest_row ? b.longest_row : a.longest_row, a.num_inputs + b.num_inputs};
  }
};

/// Orders the vertices and builds the matrix in that order.
template <class Memory, class S>
struct GraphPreparation {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  GraphPreparation(const PatternCsr& csr, const PreparationOptions& options) : csr_(csr), options_(options) {
    require(options.tile_columns > 0 && options.tile_columns <= 65535, "a tile has 1 to 65,535 columns");
  }

  PreparedMessages<S> run() {
    order_vertices();
    give_slots();
    CutMessages<Memory, S> messages = cut_rows();
    return {MessagesBuild<Memory, S>(shape_, std::move(messages)).run(), Memory::as_buffer(std::move(order_)),
            Memory::as_buffer(std::move(slots_))};
  }

  /// Inputs first, then rows that are none, then the rest.
  void order_vertices() {
    const std::uint64_t n = csr_.num_vertices;
    lengths_ = Memory::template zeros<std::uint32_t>(n);
    std::uint32_t* length = lengths_.data();
    const EdgeOffset* offset = csr_.row_offsets.data();
    count_keys<Memory>(csr_.col_indices.data(), csr_.col_indices.size(), n, options_.least_dealt, length);
    found_ = thrust::transform_reduce(
        Memory::policy(), thrust::counting_iterator<std::uint64_t>(0),
        thrust::counting_iterator<std::uint64_t>(n),
        [=] __host__ __device__(std::uint64_t v) -> VertexFindings {
          return {length[v], offset[v + 1] - offset[v], length[v] > 0 ? 1u : 0u};
        },
        VertexFindings(), thrust::plus<VertexFindings>());
    // Keys of vertices that are no inputs: rows with elements, and behind them those without.
    const std::uint32_t row_alone =
        options_.by_length ? static_cast<std::uint32_t>(found_.longest_column) : 1;
    order_ = Vector<VertexId>(n);
    VertexId* vertex = order_.data();
    const bool by_length = options_.by_length;
    Memory::each(n, [=] __host__ __device__(std::uint64_t v) {
      vertex[v] = static_cast<VertexId>(v);
      if (length[v] > 0)
        length[v] = by_length ? row_alone - length[v] : 0;
      else
        length[v] = offset[v + 1] > offset[v] ? row_alone : row_alone + 1;
    });
    Memory::sort(lengths_, order_, 0, bits_for(row_alone + 1));
    if (!by_length) lengths_ = {};
  }

  void give_slots() {
    const std::uint64_t inputs = found_.num_inputs, columns = options_.tile_columns;
    for (std::uint64_t t = 0; t * columns < inputs; ++t)
      tiles_.push_back(
          {.first_slot = t * (columns + 1), .num_columns = std::min(columns, inputs - t * columns)});
    if (tiles_.size() > kMostTiles)
      throw ResourceError("the graph has too many vertices for tiles of so few columns");
    // A zero slot behind every tile.
    shape_ = {.num_rows = csr_.num_vertices,
              .num_slots = inputs + tiles_.size(),
              .tiles = tiles_,
              .tile_stride = columns + 1,
              .bins = options_.bins};
    if (shape_.num_slots > kMaxVertices)
      throw ResourceError("the graph has too many vertices for 32-bit slots");
    slots_ = Vector<VertexId>(csr_.num_vertices);
    VertexId* slot = slots_.data();
    const VertexId* vertex = order_.data();
    const ColumnSlots slots(options_.tile_columns, tiles_.size());
    Memory::each(csr_.num_vertices, [=] __host__ __device__(std::uint64_t i) {
      slot[vertex[i]] = i < inputs ? slots.slot_of(static_cast<VertexId>(i)) : kNoVertex;
    });
  }

  /// Elements in all tiles before each, from the keys of inputs that are in order; none of too many tiles or
  /// elements.
  Vector<std::uint32_t> count_before_tiles() {
    Vector<std::uint32_t> starts;
    if (lengths_.empty() || tiles_.size() > kMostDealtTiles || csr_.col_indices.size() > kMostDealt)
      return starts;
    lengths_.truncate(found_.num_inputs);
    std::uint32_t* length = lengths_.data();
    const auto longest = static_cast<std::uint32_t>(found_.longest_column);
    Memory::each(lengths_.size(),
                 [=] __host__ __device__(std::uint64_t i) { length[i] = longest - length[i]; });
    sum_up(lengths_);
    starts = Vector<std::uint32_t>(tiles_.size());
    std::uint32_t* start = starts.data();
    const std::uint64_t columns = options_.tile_columns;
    Memory::each(starts.size(), [=] __host__ __device__(std::uint64_t t) {
      start[t] = t == 0 ? 0 : length[t * columns - 1];
    });
    return starts;
  }

  CutMessages<Memory, S> cut_rows() {
    const std::uint64_t n = csr_.num_vertices;
    RowChunk<Memory, S> chunk{.starts = Memory::template zeros<std::uint64_t>(n + 1),
                              .cols = csr_.col_indices.data()};
    Vector<std::uint64_t> from(n);
    std::uint64_t *start = chunk.starts.data(), *begin = from.data();
    const VertexId* vertex = order_.data();
    const EdgeOffset* offset = csr_.row_offsets.data();
    Memory::each(n, [=] __host__ __device__(std::uint64_t i) {
      begin[i] = offset[vertex[i]];
      start[i + 1] = offset[vertex[i] + 1] - begin[i];
    });
    sum_up(chunk.starts);
    chunk.from = begin;
    const Vector<std::uint32_t> tile_starts = count_before_tiles();
    chunk.tile_starts = tile_starts.data();
    lengths_ = {};
    Vector<std::uint16_t> keys;
    if (!tile_starts.empty()) keys = column_keys(slots_, static_cast<std::uint32_t>(shape_.tile_stride));
    chunk.column_keys = keys.data();
    MessageCutter<Memory, S> cutter(shape_, slots_.data(), csr_.col_indices.size(), found_.longest_row,
                                    false);
    cutter.add(chunk, csr_.col_indices.size());
    return cutter.finish();
  }

  const PatternCsr& csr_;
  const PreparationOptions& options_;
  Vector<VertexId> order_, slots_;
  Vector<std::uint32_t> lengths_;  // of columns; then keys of order_, if that is by length
  VertexFindings found_;
  std::vector<Tile> tiles_;
  MessagesShape shape_;
};

}  // namespace tessera::cuda
