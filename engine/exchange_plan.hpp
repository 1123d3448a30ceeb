// Plans how inputs travel (kernels/exchange.hpp): from the distribution and the column order alone, the same
// on every rank.
#pragma once
#include <span>

#include "engine/column_order.hpp"
#include "engine/vertex_distribution.hpp"
#include "kernels/exchange.hpp"

namespace tessera {

/// chunk_shares: ascending shares of a rank's inputs after which a chunk ends, the last 1; local order is
/// slot order, so early chunks hold the longest columns of all ranks. Padding lands in slot
/// columns.num_slots.
ExchangePlan plan_exchange(const VertexDistribution& inputs, const ColumnOrder& columns, int rank,
                           std::span<const double> chunk_shares);

}  // namespace tessera
