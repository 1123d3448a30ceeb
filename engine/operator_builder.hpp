// Builds SpmvOperators from a Graph: lengths, plan, column order, distribution, exchange; the matrix is
// engine/matrix_packer.hpp's.
// Used by engine/spmv_operator.cpp only.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "engine/exchange_plan.hpp"
#include "engine/matrix_packer.hpp"
#include "engine/spmv_operator.hpp"
#include "kernels/base/error.hpp"
#include "kernels/row_additions.hpp"

namespace tessera {

/// Column order and distribution of one vector space: what is an input of one product may be the rows of
/// another.
struct VectorSpace {
  std::span<const std::uint64_t> column_lengths;  ///< the caller's
  ColumnOrder columns;
  std::shared_ptr<const VertexDistribution> distribution;
};

template <class S>
struct OperatorBuilder {
  const OperatorOptions& options;
  Backend<S>& backend;
  Communicator& comm;

  SpmvPlan plan(const Graph& graph, std::span<const std::uint64_t> row_lengths,
                std::span<const std::uint64_t> column_lengths) const {
    const bool is_block = column_lengths.size() != graph.num_vertices;
    if (options.plan && !is_block) return *options.plan;
    TilingLimits limits = backend.tiling_limits();
    if (is_block || !options.for_runs) limits.run_nonzeros = 0;
    return plan_for_graph(graph, options.kernel, options.order, row_lengths, column_lengths, limits,
                          options.table, comm, options.num_vectors);
  }

  /// row_lengths decide who owns what (paper 3.2), column_lengths the order.
  VectorSpace space(std::span<const std::uint64_t> row_lengths, std::span<const std::uint64_t> column_lengths,
                    const SpmvPlan& plan) const {
    VectorSpace result;
    const TilingLimits limits = backend.tiling_limits();
    if (plan.order == ColumnOrderKind::original)
      result.columns = original_column_order(column_lengths.size());
    else if (plan.order == ColumnOrderKind::as_given)
      result.columns = order_columns_as_given(column_lengths, limits.tile_columns);
    else if (plan.kernel == KernelKind::tile_messages)
      result.columns =
          order_columns_by_length(column_lengths, limits.tile_columns, ~std::uint32_t{0}, Remainder::narrow);
    else
      result.columns = order_columns_by_length(column_lengths, limits.tile_columns, limits.max_dense_tiles);
    result.distribution = std::make_shared<const VertexDistribution>(
        distribute_vertices(row_lengths, result.columns, comm.size()));
    result.columns.order = Buffer<VertexId>();  // 4 bytes a vertex that nobody needs any more
    result.column_lengths = column_lengths;
    return result;
  }

  SpmvOperator<S> build(const LoadedRows& loaded, std::span<const std::uint64_t> row_lengths,
                        const VectorSpace& rows, const VectorSpace& inputs, SpmvPlan plan) const {
    SpmvOperator<S> op;
    op.backend_ = &backend;
    op.comm_ = &comm;
    op.plan_ = std::move(plan);
    op.rows_ = rows.distribution;
    op.inputs_ = inputs.distribution;
    op.product_roundings_ = product_roundings(op.plan_.kernel, row_lengths, inputs.columns);
    const TileExchange tiled = plan_inputs(op, inputs);
    const ColumnOrder& columns = tiled.parts.empty() ? inputs.columns : tiled.columns;
    const MatrixShape<S> shape{op.plan_.kernel, *op.rows_,  row_lengths, columns,
                               tiled.parts,     op.x_size_, op.exchange_};
    finish_stats(op, MatrixPacker<S>{options, backend, comm, shape}.pack(loaded));
    return op;
  }

  /// Collective. Throws InputError when a weight does not fit S.
  void check_weights(const Graph& graph) const {
    using Limits = std::numeric_limits<S>;
    double outside = 0;
    const auto num_weights = static_cast<std::int64_t>(graph.weights.size());
#pragma omp parallel for reduction(max : outside)
    for (std::int64_t e = 0; e < num_weights; ++e) {
      const double weight = graph.weights[e];
      if (weight > static_cast<double>(Limits::max()) ||
          (weight > 0 && weight < static_cast<double>(Limits::min())))
        outside = std::max(outside, weight);
    }
    outside = all_max(comm, outside);
    if (outside > 0)
      throw InputError(fmt::format("the weight {} does not fit {}; {}scale the weights towards 1", outside,
                                   sizeof(S) == 4 ? "f32" : "f64",
                                   sizeof(S) == 4 ? "use --precision f64 or " : ""));
  }

 private:
  static int product_roundings(KernelKind kernel, std::span<const std::uint64_t> row_lengths,
                               const ColumnOrder& columns) {
    const bool sends_messages = kernel == KernelKind::tile_messages;
    if (sizeof(S) == sizeof(float)) return sends_messages ? 3 : 0;
    if (row_lengths.empty()) return 0;
    std::uint64_t longest = 0;
    const auto num_rows = static_cast<std::int64_t>(row_lengths.size());
#pragma omp parallel for reduction(max : longest)
    for (std::int64_t row = 0; row < num_rows; ++row) longest = std::max(longest, row_lengths[row]);
    const std::uint64_t num_tiles = std::max<std::uint64_t>(columns.tiles.size(), 1);  // CSR lists none
    return static_cast<int>(sends_messages ? additions_in_messages(longest, num_tiles)
                                           : additions_in_tiles(longest, num_tiles));
  }

  /// The first, short chunk brings the longest columns, which most of the work of a power-law graph reads
  /// (with columns as given, a sixteenth of it).
  static constexpr double kChunkShares[] = {1.0 / 16, 1.0 / 4, 1}, kOneChunk[] = {1};
  /// Below this many values from all ranks a chunk is mostly latency.
  static constexpr std::uint64_t kValuesWorthChunks = std::uint64_t{1} << 22;

  Buffer<VertexId> on_backend(std::span<const VertexId> host) const {
    Buffer<VertexId> result = backend.template allocate<VertexId>(host.size());
    backend.upload(host.data(), result.data(), host.size_bytes());
    return result;
  }

  /// Plans how inputs reach x. Where tiles send messages and there are several ranks, what arrives is x: the
  /// result then holds the column order and the parts of tiles that this needs.
  TileExchange plan_inputs(SpmvOperator<S>& op, const VectorSpace& inputs) const {
    TileExchange tiled;
    op.x_size_ = inputs.columns.num_slots;
    if (comm.size() == 1) {
      op.own_places_ = {.count = inputs.distribution->with_slot[0], .slots = inputs.columns.slots()};
      return tiled;
    }
    if (op.plan_.kernel == KernelKind::tile_messages) {
      const bool chunks = backend.is_linked() && inputs.columns.num_slots >= kValuesWorthChunks;
      tiled = plan_tile_exchange(
          *inputs.distribution, inputs.columns, comm.rank(),
          chunks ? std::span<const double>(kChunkShares) : std::span<const double>(kOneChunk));
      op.exchange_plan_ = tiled.plan;
      op.x_size_ = tiled.plan.num_received();
    } else {
      op.exchange_plan_ = plan_exchange(*inputs.distribution, inputs.columns, comm.rank());
      ++op.x_size_;  // for what is left over
    }
    op.input_slots_ = on_backend(op.exchange_plan_.slots);
    op.send_positions_ = on_backend(op.exchange_plan_.positions);
    op.exchange_plan_.x_size = op.x_size_;
    op.exchange_ = backend.make_exchange(op.exchange_plan_);
    std::vector<VertexId>().swap(op.exchange_plan_.slots);
    std::vector<VertexId>().swap(op.exchange_plan_.positions);
    return tiled;
  }

  void finish_stats(SpmvOperator<S>& op, PackedMatrix<S> packed) const {
    op.matrix_ = std::move(packed.matrix);
    const PackingStats& own = packed.stats;
    OperatorStats& stats = op.stats_;
    stats.num_tiles = own.num_tiles;
    std::uint64_t sums[] = {own.num_nonzeros,  own.num_stored, own.num_row_pieces,
                            own.num_workloads, own.bytes,      std::uint64_t{!packed.by_device}};
    comm.all_sum(std::span<std::uint64_t>(sums));
    stats.num_nonzeros = sums[0];
    stats.num_stored = sums[1];
    stats.num_row_pieces = sums[2];
    stats.num_workloads = sums[3];
    stats.matrix_bytes = sums[4];
    stats.packed_on_device = sums[5] == 0;
    const std::uint64_t ranks = static_cast<std::uint64_t>(comm.size());
    // Each tile reads its part of x once and adds to y once a piece (read and write).
    stats.vector_bytes = ranks * op.x_size_ * sizeof(S) + stats.num_row_pieces * 2 * sizeof(double);
    if (ranks > 1) {
      const std::uint64_t received = op.exchange_plan_.count * (ranks - 1);
      stats.exchanged_bytes = received * sizeof(S);
    }
    stats.row_imbalance = op.rows_->balance.row_imbalance;
    stats.nonzero_imbalance = op.rows_->balance.nonzero_imbalance;
    if (stats.num_nonzeros > 0)
      stats.padding_ratio = static_cast<double>(stats.num_stored - stats.num_nonzeros) /
                            static_cast<double>(stats.num_nonzeros);
  }
};

}  // namespace tessera
