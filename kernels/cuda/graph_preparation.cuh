// kernels/cuda/graph_preparation.hpp for any memory; the host is where it is tested without a device, but for
// what docs/design.md names.
#pragma once
#include "kernels/column_slots.hpp"
#include "kernels/cuda/graph_preparation.hpp"
#include "kernels/cuda/key_counts.cuh"
#include "kernels/cuda/messages_build.cuh"
#include "kernels/cuda/reduction.cuh"
#include "kernels/cuda/sorted_elements.cuh"

namespace tessera::cuda {

template <class Memory>
PatternCsr csr_of_edges(std::uint64_t num_vertices, std::uint64_t num_edges, const VertexId* rows,
                        const VertexId* cols) {
  if (num_edges >= kNoVertex) throw ResourceError("more than 2^32 edges at once; use several GPUs");
  SortedElements<Memory> sorted = sorted_elements<Memory>(num_vertices, num_edges, rows, cols);
  return {num_vertices, Memory::as_buffer(std::move(sorted.row_offsets)),
          Memory::as_buffer(std::move(sorted.col_indices)),
          Memory::as_buffer(std::move(sorted.columns_in_ranges))};
}

/// What vertices are ordered by first: inputs, rows that are none, the rest. Columns of kLong elements or
/// more, few of a power-law graph, share a key, and all inputs do in the order as given.
struct OrderKey {
  static constexpr std::uint32_t kLong = 253, kRowAlone = 254, kRest = 255;
  __host__ __device__ static std::uint8_t of(bool by_length, std::uint32_t column, std::uint64_t row) {
    if (column == 0) return row > 0 ? kRowAlone : kRest;
    return static_cast<std::uint8_t>(by_length && column < kLong ? kLong - column : 0);
  }
};

/// What a look at all vertices finds. Of one type, as padding would be copied from a device without ever
/// being written.
struct VertexFindings {
  std::uint64_t longest_column = 0, longest_row = 0, num_inputs = 0;
  std::uint64_t num_linked = 0;  ///< inputs, and rows with elements
  std::uint64_t num_long = 0;    ///< columns of OrderKey::kLong elements or more

  __host__ __device__ friend VertexFindings operator+(const VertexFindings& a, const VertexFindings& b) {
    return {a.longest_column < b.longest_column ? b.longest_column : a.longest_column,
            a.longest_row < b.longest_row ? b.longest_row : a.longest_row, a.num_inputs + b.num_inputs,
            a.num_linked + b.num_linked, a.num_long + b.num_long};
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
    return {MessagesBuild<Memory, S>(shape_, std::move(messages), side_).run(),
            Memory::as_buffer(std::move(order_)), Memory::as_buffer(std::move(slots_))};
  }

  /// Inputs first, then rows that are none, then the rest.
  void order_vertices() {
    const std::uint64_t n = csr_.num_vertices;
    lengths_ = Memory::template zeros<std::uint32_t>(n);
    std::uint32_t* length = lengths_.data();
    const EdgeOffset* offset = csr_.row_offsets.data();
    count_keys<Memory>(csr_.col_indices.data(), csr_.col_indices.size(), n, options_.least_dealt,
                       csr_.columns_in_ranges.data(), length);
    const auto found =
        sum_of<VertexFindings, Memory>(n, [=] __host__ __device__(std::uint64_t v) -> VertexFindings {
          const std::uint64_t row_length = offset[v + 1] - offset[v];
          return {length[v], row_length, length[v] > 0 ? 1u : 0u, length[v] > 0 || row_length > 0 ? 1u : 0u,
                  length[v] >= OrderKey::kLong ? 1u : 0u};
        });
    found_ = side_.to_host(found.data(), 1, [&] { order_by_keys(); })[0];
    if (options_.by_length && found_.num_long > 0) order_long_columns();
  }

  void order_by_keys() {
    order_ = Vector<VertexId>(csr_.num_vertices);
    keys_ = Vector<std::uint8_t>(csr_.num_vertices);
    VertexId* vertex = order_.data();
    std::uint8_t* key = keys_.data();
    const std::uint32_t* length = lengths_.data();
    const EdgeOffset* offset = csr_.row_offsets.data();
    const bool by_length = options_.by_length;
    Memory::each(csr_.num_vertices, [=] __host__ __device__(std::uint64_t v) {
      vertex[v] = static_cast<VertexId>(v);
      key[v] = OrderKey::of(by_length, length[v], offset[v + 1] - offset[v]);
    });
    Memory::sort(keys_, order_, 0, 8);
  }

  /// They come first, so far in the order as given. Then lengths_ has by how much each, in order, is shorter
  /// than the longest.
  void order_long_columns() {
    Vector<std::uint32_t> keys(found_.num_long);
    Vector<VertexId> vertices(found_.num_long);
    const auto longest = static_cast<std::uint32_t>(found_.longest_column);
    const std::uint32_t* length = lengths_.data();
    const VertexId* vertex = order_.data();
    std::uint32_t* key = keys.data();
    Memory::each(keys.size(),
                 [=] __host__ __device__(std::uint64_t i) { key[i] = longest - length[vertex[i]]; });
    Memory::copy(vertex, vertices.data(), vertices.size() * sizeof(VertexId));
    Memory::sort(keys, vertices, 0, bits_for(longest - OrderKey::kLong));
    Memory::copy(vertices.data(), order_.data(), vertices.size() * sizeof(VertexId));
    lengths_ = std::move(keys);
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
    slots_ = Memory::no_vertices(csr_.num_vertices);
    VertexId* slot = slots_.data();
    const VertexId* vertex = order_.data();
    const ColumnSlots slots(options_.tile_columns, tiles_.size());
    Memory::each(inputs, [=] __host__ __device__(std::uint64_t i) {
      slot[vertex[i]] = slots.slot_of(static_cast<VertexId>(i));
    });
  }

  /// Elements in all tiles before each, from the keys of inputs that are in order; none of more than can be
  /// dealt, or in the order as given.
  Vector<std::uint32_t> count_before_tiles() {
    Vector<std::uint32_t> starts;
    if (!options_.by_length || tiles_.size() > kMostDealtTiles || csr_.col_indices.size() > kMostDealt ||
        csr_.num_vertices > kMostDealtRows)
      return starts;
    Vector<std::uint32_t> sums(found_.num_inputs);
    std::uint32_t* sum = sums.data();
    const std::uint32_t* below_longest = lengths_.data();
    const std::uint8_t* key = keys_.data();
    const auto longest = static_cast<std::uint32_t>(found_.longest_column);
    const std::uint64_t num_long = found_.num_long;
    Memory::each(sums.size(), [=] __host__ __device__(std::uint64_t i) {
      sum[i] = i < num_long ? longest - below_longest[i] : OrderKey::kLong - key[i];
    });
    sum_up(sums);
    starts = Vector<std::uint32_t>(tiles_.size());
    std::uint32_t* start = starts.data();
    const std::uint64_t columns = options_.tile_columns;
    Memory::each(starts.size(),
                 [=] __host__ __device__(std::uint64_t t) { start[t] = t == 0 ? 0 : sum[t * columns - 1]; });
    return starts;
  }

  CutMessages<Memory, S> cut_rows() {
    const std::uint64_t num_rows = found_.num_linked;  // those behind have no elements
    RowChunk<Memory, S> chunk{.starts = Vector<std::uint64_t>(num_rows + 1), .cols = csr_.col_indices.data()};
    Vector<std::uint64_t> from(num_rows);
    std::uint64_t *start = chunk.starts.data(), *begin = from.data();
    Memory::clear(start, sizeof(std::uint64_t));
    const VertexId* vertex = order_.data();
    const EdgeOffset* offset = csr_.row_offsets.data();
    Memory::each(num_rows, [=] __host__ __device__(std::uint64_t i) {
      begin[i] = offset[vertex[i]];
      start[i + 1] = offset[vertex[i] + 1] - begin[i];
    });
    sum_up(chunk.starts);
    chunk.from = begin;
    chunk.tile_starts = count_before_tiles();
    lengths_ = {};
    keys_ = {};
    MessageCutter<Memory, S> cutter(shape_, slots_.data(), csr_.col_indices.size(), found_.longest_row, false,
                                    side_);
    cutter.add(std::move(chunk), csr_.col_indices.size());
    return cutter.finish();
  }

  const PatternCsr& csr_;
  const PreparationOptions& options_;
  Vector<VertexId> order_, slots_;
  Vector<std::uint32_t> lengths_;  // of columns; then see order_long_columns()
  Vector<std::uint8_t> keys_;      // of order_, see OrderKey
  VertexFindings found_;
  std::vector<Tile> tiles_;
  MessagesShape shape_;
  SideStream<Memory> side_;  // the last member, which waits before others free what is used there
};

}  // namespace tessera::cuda
