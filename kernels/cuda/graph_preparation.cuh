// kernels/cuda/graph_preparation.hpp for any memory; the host is where it is tested without a device, but for
// what docs/design.md names.
#pragma once
#include <optional>

#include "kernels/cuda/graph_preparation.hpp"
#include "kernels/cuda/key_counts.cuh"
#include "kernels/cuda/messages_build.cuh"
#include "kernels/cuda/sorted_elements.cuh"
#include "kernels/cuda/tile_starts.cuh"
#include "kernels/cuda/vertex_order.cuh"

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

/// Orders the vertices and builds the matrix in that order.
template <class Memory, class S>
struct GraphPreparation {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  GraphPreparation(const PatternCsr& csr, const PreparationOptions& options) : csr_(csr), options_(options) {
    require(options.tile_columns > 0 && options.tile_columns <= 65535, "a tile has 1 to 65,535 columns");
  }

  PreparedMessages<S> run() {
    VertexOrder<Memory> order = order_vertices();
    shape_rows(order.found);
    CutMessages<Memory, S> messages = cut_rows(order);
    return {MessagesBuild<Memory, S>(shape_, std::move(messages), side_).run(),
            Memory::as_buffer(std::move(order.vertices)), Memory::as_buffer(std::move(order.slots))};
  }

  VertexOrder<Memory> order_vertices() {
    const std::uint64_t n = csr_.num_vertices;
    // Columns' lengths, and two words for the longest column and row; messages of rows.
    auto [lengths, message_counts] = Memory::template zeros<std::uint32_t>(n + 2, n + 1);
    message_counts_ = std::move(message_counts);
    count_keys<Memory>(csr_.col_indices.data(), csr_.col_indices.size(), n, options_.least_dealt,
                       csr_.columns_in_ranges.data(), lengths.data());
    // Memory is asked for while a device has work, as that may take the host long.
    return VertexOrder<Memory>({n, csr_.col_indices.size(), lengths.data(), csr_.row_offsets.data(),
                                options_.by_length, lengths.data() + n},
                               options_.tile_columns, side_, [&] {
                                 room_.emplace(csr_.col_indices.size());
                                 if (are_dealt(ceil_div<std::uint64_t>(n, options_.tile_columns)))
                                   room_->add_pieces(csr_.col_indices.size());
                               });
  }
  /// To so many tiles.
  bool are_dealt(std::uint64_t num_tiles) const {
    return num_tiles <= kMostDealtTiles && csr_.col_indices.size() <= kMostDealt &&
           csr_.num_vertices <= kMostDealtRows;
  }

  void shape_rows(const VertexFindings& found) {
    const std::uint64_t inputs = found.num_inputs, columns = options_.tile_columns;
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
  }

  /// Elements in all tiles before each, of columns that have these lengths in order; none of more than can be
  /// dealt.
  Vector<std::uint32_t> count_before_tiles(const Vector<std::uint32_t>& column_lengths) const {
    if (!are_dealt(tiles_.size())) return {};
    return start_tiles<Memory>(
        {.count = column_lengths.size(), .of_tile = options_.tile_columns, .lengths = column_lengths.data()});
  }

  /// Rows behind those with links have no elements.
  CutMessages<Memory, S> cut_rows(VertexOrder<Memory>& order) {
    const std::uint64_t num_elements = csr_.col_indices.size();
    RowChunk<Memory, S> chunk{.starts = std::move(order.row_starts),
                              .from = order.row_begins.data(),
                              .cols = csr_.col_indices.data(),
                              .tile_starts = count_before_tiles(order.column_lengths),
                              .own_from = std::move(order.row_begins)};
    order.column_lengths = {};
    MessageCutter<Memory, S> cutter(shape_, order.slots.data(), num_elements, order.found.longest_row, false,
                                    std::move(message_counts_), std::move(*room_));
    cutter.add(std::move(chunk), num_elements);
    return cutter.finish();
  }

  const PatternCsr& csr_;
  const PreparationOptions& options_;
  std::vector<Tile> tiles_;
  MessagesShape shape_;
  Vector<std::uint32_t> message_counts_;  // 0, for the cutter: cleared while the host is ahead of a device
  std::optional<ElementRoom<Memory>> room_;
  SideStream<Memory> side_;  // the last member, which waits before others free what is used there
};

}  // namespace tessera::cuda
