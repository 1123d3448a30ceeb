// Which order of the columns suits tile-messages: longest first, or as the file has them. The order with
// fewer pieces of rows (a message each) is the faster one; graphs whose neighbours lie together keep them so.
#pragma once
#include <cstdint>
#include <span>

#include "engine/column_order.hpp"
#include "engine/graph.hpp"
#include "partition/communicator.hpp"

namespace tessera {

enum class OrderRequest { automatic, by_length, as_given };

/// Non-empty (row, tile) pairs of the rows that were looked at.
struct PieceCounts {
  std::uint64_t by_length = 0, as_given = 0;
};

/// Of A^T of `graph` (columns: sources), its columns cut into tiles of `tile_columns` in both orders; of
/// every k-th row, so that about `num_sampled` edges are looked at. The same on every rank and for any number
/// of ranks; collective.
PieceCounts count_pieces(const Graph& graph, std::span<const std::uint64_t> column_lengths,
                         std::uint32_t tile_columns, std::uint64_t num_sampled, Communicator& comm);

/// As given where that saves a tenth of the pieces or more. Collective.
ColumnOrderKind choose_order(OrderRequest asked, const Graph& graph,
                             std::span<const std::uint64_t> column_lengths, std::uint32_t tile_columns,
                             Communicator& comm);

}  // namespace tessera
