// Plans how inputs travel (kernels/exchange.hpp): from the distribution and the column order alone, the same
// on every rank but for what is this rank's own.
#pragma once
#include <span>
#include <vector>

#include "engine/column_order.hpp"
#include "engine/vertex_distribution.hpp"
#include "kernels/exchange.hpp"
#include "kernels/tile_messages_view.hpp"

namespace tessera {

/// One chunk, in local order; every value then goes to its slot, a leftover to slot columns.num_slots.
ExchangePlan plan_exchange(const VertexDistribution& inputs, const ColumnOrder& columns, int rank);

/// For tile-messages: what arrives is x. A tile keeps its columns, which now lie by rank, so that a tile's
/// part of x is one piece of what each rank has sent.
struct TileExchange {
  ExchangePlan plan;
  ColumnOrder columns;            ///< the same tiles, slots renumbered
  std::vector<WindowPart> parts;  ///< of every tile, rank after rank, positions in x
};

/// chunk_shares: ascending shares of the tiles after which a chunk ends, the last 1. All tiles must be
/// narrow.
TileExchange plan_tile_exchange(const VertexDistribution& inputs, const ColumnOrder& columns, int rank,
                                std::span<const double> chunk_shares);

}  // namespace tessera
