// Builds SpmvOperators from a Graph: lengths, plan, column order, distribution, rows, matrix.
// Used by engine/spmv_operator.cpp only.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "engine/exchange_plan.hpp"
#include "engine/graph_builder.hpp"
#include "engine/row_exchange.hpp"
#include "engine/spmv_operator.hpp"
#include "engine/tile_composite_builder.hpp"
#include "engine/tile_messages_builder.hpp"
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
    if (options.plan && column_lengths.size() == graph.num_vertices) return *options.plan;
    return plan_for_graph(graph, options.kernel, options.order, row_lengths, column_lengths,
                          backend.tiling_limits(), options.table, comm, options.num_vectors);
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
    make_matrix(op, loaded, row_lengths, tiled.parts.empty() ? inputs.columns : tiled.columns, tiled.parts);
    finish_stats(op);
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

  /// Collective.
  LoadedRows loaded_rows(const Graph& graph) const {
    LoadedRows loaded;
    loaded.first = &graph;
    loaded.first_row = all_gather(comm, std::uint64_t{graph.first_row});
    loaded.first_row.push_back(graph.num_vertices);
    return loaded;
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
    if (op.plan_.kernel == KernelKind::tile_messages && comm.size() > 1) {
      const bool chunks = backend.is_linked() && inputs.columns.num_slots >= kValuesWorthChunks;
      tiled = plan_tile_exchange(
          *inputs.distribution, inputs.columns, comm.rank(),
          chunks ? std::span<const double>(kChunkShares) : std::span<const double>(kOneChunk));
      op.exchange_plan_ = tiled.plan;
      op.x_size_ = tiled.plan.num_received();
    } else {
      op.exchange_plan_ = plan_exchange(*inputs.distribution, inputs.columns, comm.rank());
      op.x_size_ = inputs.columns.num_slots + (comm.size() > 1 ? 1 : 0);  // one for what is left over
    }
    op.input_slots_ = on_backend(op.exchange_plan_.slots);
    op.send_positions_ = on_backend(op.exchange_plan_.positions);
    if (comm.size() > 1) op.exchange_ = backend.make_exchange(op.exchange_plan_);
    std::vector<VertexId>().swap(op.exchange_plan_.slots);
    std::vector<VertexId>().swap(op.exchange_plan_.positions);
    return tiled;
  }

  void make_matrix(SpmvOperator<S>& op, const LoadedRows& loaded, std::span<const std::uint64_t> row_lengths,
                   const ColumnOrder& columns, std::span<const WindowPart> parts) const {
    const RowsAtHand all = rows_at_hand(loaded);
    const bool is_same = all.csr && all.directions == Directions::same;
    if (all.csr && !is_same && pack_turned_or_both(op, all, row_lengths, columns, parts)) return;
    if (loaded.is_turned && !is_same) {
      Graph turned = transposed(*loaded.first, comm);
      turned.mapped.reset();  // what they are made of has not served
      return make_matrix(op, loaded_rows(turned), row_lengths, columns, parts);
    }
    if (is_same && (comm.size() == 1 || op.plan_.kernel != KernelKind::csr))
      return pack(op, *all.csr, op.local_rows(), row_lengths, columns, parts);
    // A device makes CSR of all rows that it is sent, so it is sent this rank's alone.
    const LocalRows local = is_same ? copied_rows(*all.csr, op.local_rows())
                                    : exchange_rows(loaded, *op.rows_, row_lengths, comm);
    const CsrView<double> csr{op.num_local_rows(), row_lengths.size(), local.row_offsets.data(),
                              local.col_indices.data(), local.values.empty() ? nullptr : local.values.data()};
    std::vector<VertexId> in_order(op.num_local_rows());
    std::iota(in_order.begin(), in_order.end(), VertexId{0});
    pack(op, csr, in_order, row_lengths, columns, parts);
  }

  /// Rows of all ranks that this one has, if any, and which of their elements the matrix has.
  struct RowsAtHand {
    std::optional<CsrView<double>> csr;
    Directions directions = Directions::same;
  };
  RowsAtHand rows_at_hand(const LoadedRows& loaded) const {
    if (loaded.second != nullptr || loaded.first_column_shift != 0) return {};
    const Graph& graph = *loaded.first;
    RowsAtHand all;
    if (comm.size() == 1) {
      all.csr = graph.in_edges();
    } else if (graph.mapped) {
      all.csr = graph.mapped_csr();
      all.directions = graph.mapped->directions;
    }
    if (loaded.is_turned) all.directions = turned_round(all.directions);
    return all;
  }

  /// Where devices pack that have room to turn the edges round, or to make both directions, themselves; on
  /// every rank or none. Else the host does that, whoever packs then.
  bool pack_turned_or_both(SpmvOperator<S>& op, const RowsAtHand& all,
                           std::span<const std::uint64_t> row_lengths, const ColumnOrder& columns,
                           std::span<const WindowPart> parts) const {
    PackingStats packing;
    const auto pack_input = [&]() -> std::unique_ptr<Matrix<S>> {
      if (op.plan_.kernel == KernelKind::csr) {
        CsrBuildInput input = csr_packing_input(*all.csr, op.local_rows(), columns);
        input.directions = all.directions;
        return backend.pack_csr(input, packing);
      }
      MessagesBuildInput input =
          packing_input(op, *all.csr, op.local_rows(), columns, bins_for(op, *all.csr, row_lengths), parts);
      input.directions = all.directions;
      return backend.pack_messages(input, op.exchange_, packing);
    };
    bool is_packed = op.plan_.kernel != KernelKind::tile_composite && packs_on_device(op, true, pack_input);
    if (!all_true(comm, is_packed)) {
      op.matrix_ = nullptr;
      op.stats_.packed_on_device = is_packed = false;
    } else {
      note(op, packing);
    }
    return is_packed;
  }

  /// For the elements of this rank's rows.
  BinLimits bins_for(const SpmvOperator<S>& op, const CsrView<double>& csr,
                     std::span<const std::uint64_t> row_lengths) const {
    const auto rows = op.local_rows();
    std::uint64_t num_nonzeros = csr.num_nonzeros();
    if (comm.size() > 1) {
      num_nonzeros = 0;
#pragma omp parallel for reduction(+ : num_nonzeros)
      for (std::size_t i = 0; i < rows.size(); ++i) num_nonzeros += row_lengths[rows[i]];
    }
    return backend.tiling_limits().bins_for(num_nonzeros, options.for_updates);
  }

  /// row_lengths: of the whole matrix. `csr` may have more rows than this rank's, which `rows` names.
  void pack(SpmvOperator<S>& op, const CsrView<double>& csr, std::span<const VertexId> rows,
            std::span<const std::uint64_t> row_lengths, const ColumnOrder& columns,
            std::span<const WindowPart> parts) const {
    PackingStats packing;
    if (op.plan_.kernel == KernelKind::tile_composite) {
      auto matrix = build_tile_composite<S>(csr, rows, columns, backend.tiling_limits(), options.table);
      packing = matrix.stats;
      op.matrix_ = backend.make_matrix(std::move(matrix));
    } else if (op.plan_.kernel == KernelKind::tile_messages) {
      pack_messages(op, csr, rows, bins_for(op, csr, row_lengths), columns, parts, packing);
    } else {
      pack_csr(op, csr, rows, columns, packing);
    }
    note(op, packing);
  }

  static void note(SpmvOperator<S>& op, const PackingStats& packing) {
    op.stats_.num_tiles = packing.num_tiles;
    op.stats_.num_workloads = packing.num_workloads;
    op.stats_.num_nonzeros = packing.num_nonzeros;
    op.stats_.num_stored = packing.num_stored;
    op.stats_.num_row_pieces = packing.num_row_pieces;
    op.stats_.matrix_bytes = packing.bytes;
  }

  /// Whether the device has packed the matrix. may_fall_back: where it has no room, it has not.
  template <class Pack>
  bool packs_on_device(SpmvOperator<S>& op, bool may_fall_back, const Pack& pack) const {
    if (!options.pack_on_device) return false;
    try {
      op.matrix_ = pack();
    } catch (const NoRoomError&) {
      if (!may_fall_back) throw;
    }
    op.stats_.packed_on_device = op.matrix_ != nullptr;
    return op.matrix_ != nullptr;
  }

  void pack_csr(SpmvOperator<S>& op, const CsrView<double>& csr, std::span<const VertexId> rows,
                const ColumnOrder& columns, PackingStats& packing) const {
    const CsrBuildInput input = csr_packing_input(csr, rows, columns);
    if (packs_on_device(op, options.may_pack_on_host, [&] { return backend.pack_csr(input, packing); }))
      return;
    auto matrix = build_csr_matrix<S>(csr, rows, columns);
    packing = matrix.stats;
    op.matrix_ = backend.make_matrix(std::move(matrix));
  }

  static CsrBuildInput csr_packing_input(const CsrView<double>& csr, std::span<const VertexId> rows,
                                         const ColumnOrder& columns) {
    return {.csr = csr,
            .rows = rows,
            .slot_of_column = columns.slot_of_column.data(),
            .num_slots = columns.num_slots};
  }

  static MessagesBuildInput packing_input(const SpmvOperator<S>& op, const CsrView<double>& csr,
                                          std::span<const VertexId> rows, const ColumnOrder& columns,
                                          const BinLimits& bins, std::span<const WindowPart> parts) {
    return {.csr = csr,
            .rows = rows,
            .slot_of_column = columns.slot_of_column.data(),
            .shape = {.num_rows = rows.size(),
                      .num_slots = op.x_size_,
                      .tiles = columns.tiles,
                      .tile_stride = columns.tile_stride(),
                      .bins = bins,
                      .parts = parts}};
  }

  void pack_messages(SpmvOperator<S>& op, const CsrView<double>& csr, std::span<const VertexId> rows,
                     const BinLimits& bins, const ColumnOrder& columns, std::span<const WindowPart> parts,
                     PackingStats& packing) const {
    if (packs_on_device(op, options.may_pack_on_host, [&] {
          return backend.pack_messages(packing_input(op, csr, rows, columns, bins, parts), op.exchange_,
                                       packing);
        }))
      return;
    auto matrix = build_tile_messages<S>(csr, rows, columns, bins, parts);
    packing = matrix.stats;
    op.matrix_ = backend.make_matrix(std::move(matrix), op.exchange_);
  }

  void finish_stats(SpmvOperator<S>& op) const {
    OperatorStats& stats = op.stats_;
    std::uint64_t sums[] = {stats.num_nonzeros,  stats.num_stored,   stats.num_row_pieces,
                            stats.num_workloads, stats.matrix_bytes, std::uint64_t{!stats.packed_on_device}};
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
