// Which order of the columns suits tile-messages: longest first, or by id, which is the order of the labels.
// The order with fewer pieces of rows (a message each) is the faster one; where neighbours have labels that
// lie together they stay so.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "engine/graph.hpp"
#include "engine/spmv_plan.hpp"
#include "partition/communicator.hpp"

namespace tessera {

enum class OrderRequest { automatic, by_length, as_given };

/// Non-empty (row, tile) pairs of the rows that were looked at, tile by tile (none of an order that was not
/// looked at), their edges, and how many of these are adjacent or near.
struct PieceCounts {
  std::vector<std::uint64_t> by_length, as_given;
  std::uint64_t adjacent = 0, near = 0;
  EdgeOffset num_edges = 0;
};

/// Of A^T of `graph` (columns: sources), its columns cut into tiles of `tile_columns` in the orders that may
/// be taken; of some rows, spread over all ids, so that about `num_sampled` edges are
/// looked at. The same on every rank and for any number of ranks; collective.
PieceCounts count_pieces(const Graph& graph, OrderRequest asked,
                         std::span<const std::uint64_t> column_lengths, std::uint32_t tile_columns,
                         std::uint64_t num_sampled, Communicator& comm);

/// The order asked for; automatic: as given where that saves a tenth of the pieces or more. All rows are
/// looked at where the sample has no edge. Nothing of a graph without edges. Collective.
std::optional<GraphFindings> look_at(const Graph& graph, OrderRequest asked,
                                     std::span<const std::uint64_t> column_lengths,
                                     std::uint32_t tile_columns, std::uint64_t num_sampled,
                                     Communicator& comm);

/// choose_plan for a matrix whose last columns are those of A^T of `graph`, after a look at the graph where
/// the plan may be tile-messages, or CSR on a device. The same on every rank; `limits` may differ in
/// holds_tiles. Collective.
SpmvPlan plan_for_graph(const Graph& graph, KernelKind kernel, OrderRequest order,
                        std::span<const std::uint64_t> row_lengths,
                        std::span<const std::uint64_t> column_lengths, const TilingLimits& limits,
                        const PerfTable& table, Communicator& comm, unsigned num_vectors = 1);

}  // namespace tessera
