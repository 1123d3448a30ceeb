// Builds SpmvOperators from a Graph: lengths, plan, column order, distribution, rows, matrix.
// Used by engine/spmv_operator.cpp only.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "engine/exchange_plan.hpp"
#include "engine/graph_stats.hpp"
#include "engine/row_exchange.hpp"
#include "engine/spmv_operator.hpp"
#include "engine/tile_composite_builder.hpp"
#include "engine/tile_messages_builder.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

/// Column order and distribution of one vector space: what is an input of one product may be the rows of
/// another.
struct VectorSpace {
  std::vector<std::uint64_t> column_lengths;
  ColumnOrder columns;
  std::shared_ptr<const VertexDistribution> distribution;
};

template <class S>
struct OperatorBuilder {
  const OperatorOptions& options;
  Backend<S>& backend;
  Communicator& comm;

  SpmvPlan plan(std::span<const std::uint64_t> row_lengths,
                std::span<const std::uint64_t> column_lengths) const {
    return choose_plan(options.kernel, row_lengths, column_lengths, backend.tiling_limits(), options.table);
  }

  /// row_lengths decide who owns what (paper 3.2), column_lengths the order.
  VectorSpace space(std::span<const std::uint64_t> row_lengths, std::vector<std::uint64_t> column_lengths,
                    KernelKind kernel) const {
    VectorSpace result;
    const TilingLimits limits = backend.tiling_limits();
    if (kernel == KernelKind::csr)
      result.columns = original_column_order(column_lengths.size());
    else if (kernel == KernelKind::tile_messages)
      result.columns =
          order_columns_by_length(column_lengths, limits.tile_columns, ~std::uint32_t{0}, Remainder::narrow);
    else
      result.columns = order_columns_by_length(column_lengths, limits.tile_columns, limits.max_dense_tiles);
    result.distribution = std::make_shared<const VertexDistribution>(
        distribute_vertices(row_lengths, result.columns, comm.size()));
    result.column_lengths = std::move(column_lengths);
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
    op.num_slots_ = inputs.columns.num_slots;
    plan_inputs(op, inputs);
    make_matrix(op, loaded, row_lengths, inputs.columns);
    finish_stats(op);
    return op;
  }

  /// Collective. Throws InputError when a weight does not fit S.
  LoadedRows loaded_rows(const Graph& graph) const {
    check_weights(graph);
    LoadedRows loaded;
    loaded.first = &graph;
    loaded.first_row = all_gather(comm, std::uint64_t{graph.first_row});
    loaded.first_row.push_back(graph.num_vertices);
    return loaded;
  }

 private:
  void check_weights(const Graph& graph) const {
    using Limits = std::numeric_limits<S>;
    double outside = 0;
    for (double weight : graph.weights)
      if (weight > static_cast<double>(Limits::max()) ||
          (weight > 0 && weight < static_cast<double>(Limits::min())))
        outside = std::max(outside, weight);
    outside = all_max(comm, outside);
    if (outside > 0)
      throw InputError(fmt::format("the weight {} does not fit {}; {}scale the weights towards 1", outside,
                                   sizeof(S) == 4 ? "f32" : "f64",
                                   sizeof(S) == 4 ? "use --precision f64 or " : ""));
  }

  /// The first, short chunk brings the longest columns, which most of the work of a power-law graph reads.
  static constexpr double kChunkShares[] = {1.0 / 16, 1.0 / 4, 1};
  /// Below this many values from all ranks a chunk is mostly latency.
  static constexpr std::uint64_t kValuesWorthChunks = std::uint64_t{1} << 22;

  /// Plans the exchange and puts the slots of all inputs where the backend finds them.
  void plan_inputs(SpmvOperator<S>& op, const VectorSpace& inputs) const {
    const double whole[] = {1};
    op.exchange_plan_ = plan_exchange(*inputs.distribution, inputs.columns, comm.rank(), whole);
    op.input_slots_ = backend.template allocate<VertexId>(op.exchange_plan_.slots.size());
    backend.upload(op.exchange_plan_.slots.data(), op.input_slots_.data(), op.input_slots_.size_bytes());
    op.exchange_plan_.slots = {};
    if (comm.size() == 1) return;
    const bool chunks =
        op.plan_.kernel == KernelKind::tile_messages && op.input_slots_.size() >= kValuesWorthChunks;
    op.exchange_ = backend.make_exchange(
        plan_exchange(*inputs.distribution, inputs.columns, comm.rank(),
                      chunks ? std::span<const double>(kChunkShares) : std::span<const double>(whole)));
  }

  void make_matrix(SpmvOperator<S>& op, const LoadedRows& loaded, std::span<const std::uint64_t> row_lengths,
                   const ColumnOrder& columns) const {
    if (comm.size() == 1 && loaded.second == nullptr && loaded.first_column_shift == 0)
      return pack(op, loaded.first->in_edges(), op.local_rows(), columns);
    const LocalRows local = exchange_rows(loaded, *op.rows_, row_lengths, comm);
    const CsrView<double> csr{op.num_local_rows(), row_lengths.size(), local.row_offsets.data(),
                              local.col_indices.data(), local.values.empty() ? nullptr : local.values.data()};
    std::vector<VertexId> in_order(op.num_local_rows());
    std::iota(in_order.begin(), in_order.end(), VertexId{0});
    pack(op, csr, in_order, columns);
  }

  void pack(SpmvOperator<S>& op, const CsrView<double>& csr, std::span<const VertexId> rows,
            const ColumnOrder& columns) const {
    PackingStats packing;
    if (op.plan_.kernel == KernelKind::tile_composite) {
      auto matrix = build_tile_composite<S>(csr, rows, columns, backend.tiling_limits(), options.table);
      packing = matrix.stats;
      op.stats_.num_tiles = matrix.tiles.size();
      op.stats_.num_workloads = matrix.workloads.size();
      op.matrix_ = backend.make_matrix(std::move(matrix));
    } else if (op.plan_.kernel == KernelKind::tile_messages) {
      const TilingLimits limits = backend.tiling_limits();
      const std::uint32_t bin = limits.bin_messages / (csr.num_nonzeros() < limits.bin_nonzeros ? 2 : 1);
      auto matrix = build_tile_messages<S>(csr, rows, columns, bin);
      packing = matrix.stats;
      op.stats_.num_tiles = matrix.tiles.num_windows();
      op.stats_.num_workloads = matrix.tiles.slices.size() + matrix.bins.slices.size();
      op.matrix_ = backend.make_matrix(std::move(matrix), op.exchange_);
    } else {
      auto matrix = build_csr_matrix<S>(csr, rows, columns);
      packing = matrix.stats;
      op.matrix_ = backend.make_matrix(std::move(matrix));
    }
    op.stats_.num_nonzeros = packing.num_nonzeros;
    op.stats_.num_stored = packing.num_stored;
    op.stats_.num_row_pieces = packing.num_row_pieces;
    op.stats_.matrix_bytes = packing.bytes;
  }

  void finish_stats(SpmvOperator<S>& op) const {
    OperatorStats& stats = op.stats_;
    std::uint64_t sums[] = {stats.num_nonzeros, stats.num_stored, stats.num_row_pieces, stats.num_workloads,
                            stats.matrix_bytes};
    comm.all_sum(std::span<std::uint64_t>(sums));
    stats.num_nonzeros = sums[0];
    stats.num_stored = sums[1];
    stats.num_row_pieces = sums[2];
    stats.num_workloads = sums[3];
    stats.matrix_bytes = sums[4];
    const std::uint64_t ranks = static_cast<std::uint64_t>(comm.size());
    // Each tile reads its part of x once and adds to y once a piece (read and write).
    stats.vector_bytes = ranks * op.num_slots_ * sizeof(S) + stats.num_row_pieces * 2 * sizeof(double);
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
