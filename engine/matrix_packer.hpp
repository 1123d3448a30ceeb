// From rows as loading left them to a backend's matrix of this rank's rows: brought from other ranks or from
// a mapped file, packed by the host or by the device. Used by engine/operator_builder.hpp only.
#pragma once
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "engine/graph_builder.hpp"
#include "engine/row_exchange.hpp"
#include "engine/spmv_operator.hpp"
#include "engine/tile_composite_builder.hpp"
#include "engine/tile_messages_builder.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

/// What is to be packed, apart from the elements.
template <class S>
struct MatrixShape {
  KernelKind kernel;
  const VertexDistribution& rows;
  std::span<const std::uint64_t> row_lengths;  ///< of the whole matrix
  const ColumnOrder& columns;
  std::span<const WindowPart> parts;  ///< as in build_tile_messages
  std::uint64_t num_slots = 0;        ///< length of x for one vector
  std::shared_ptr<Exchange<S>> exchange;
};

template <class S>
struct PackedMatrix {
  std::unique_ptr<Matrix<S>> matrix;
  PackingStats stats;
  bool by_device = false;
};

template <class S>
struct MatrixPacker {
  const OperatorOptions& options;
  Backend<S>& backend;
  Communicator& comm;
  const MatrixShape<S>& shape;

  /// Collective.
  PackedMatrix<S> pack(const LoadedRows& loaded) const {
    const RowsAtHand all = rows_at_hand(loaded);
    const bool is_same = all.csr && all.directions == Directions::same;
    if (all.csr && !is_same)
      if (PackedMatrix<S> packed = pack_turned_or_both(all); packed.matrix != nullptr) return packed;
    if (loaded.is_turned && !is_same) {
      Graph turned = transposed(*loaded.first, comm);
      turned.mapped.reset();  // what they are made of has not served
      return pack(loaded_rows(turned, comm));
    }
    if (is_same && (comm.size() == 1 || shape.kernel != KernelKind::csr))
      return pack_rows(*all.csr, local_rows());
    // A device makes CSR of all rows that it is sent, so it is sent this rank's alone.
    return pack_own(is_same ? copied_rows(*all.csr, local_rows())
                            : exchange_rows(loaded, shape.rows, shape.row_lengths, comm));
  }

 private:
  /// Rows of all ranks that this one has, if any, and which of their elements the matrix has.
  struct RowsAtHand {
    std::optional<CsrView<double>> csr;
    Directions directions = Directions::same;
  };

  std::span<const VertexId> local_rows() const { return shape.rows.of_rank(comm.rank()); }

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
  /// every rank or none. Else the host does that, whoever packs then, and there is no matrix yet.
  PackedMatrix<S> pack_turned_or_both(const RowsAtHand& all) const {
    PackedMatrix<S> packed;
    if (shape.kernel == KernelKind::tile_messages) {
      MessagesBuildInput input = messages_input(*all.csr, local_rows());
      input.directions = all.directions;
      packs_on_device(packed, true,
                      [&] { return backend.pack_messages(input, shape.exchange, packed.stats); });
    } else if (shape.kernel == KernelKind::csr) {
      CsrBuildInput input = csr_input(*all.csr, local_rows());
      input.directions = all.directions;
      packs_on_device(packed, true, [&] { return backend.pack_csr(input, packed.stats); });
    }
    if (!all_true(comm, packed.by_device)) return {};
    return packed;
  }

  /// rows: of this rank, in local order.
  PackedMatrix<S> pack_own(const LocalRows& rows) const {
    const std::uint64_t num_rows = local_rows().size();
    const CsrView<double> csr{num_rows, shape.row_lengths.size(), rows.row_offsets.data(),
                              rows.col_indices.data(), rows.values.empty() ? nullptr : rows.values.data()};
    std::vector<VertexId> in_order(num_rows);
    std::iota(in_order.begin(), in_order.end(), VertexId{0});
    return pack_rows(csr, in_order);
  }

  /// `csr` may have more rows than those of this rank, which `rows` names.
  PackedMatrix<S> pack_rows(const CsrView<double>& csr, std::span<const VertexId> rows) const {
    if (shape.kernel == KernelKind::tile_messages) return pack_messages(csr, rows);
    if (shape.kernel == KernelKind::csr) return pack_csr(csr, rows);
    return by_host(build_tile_composite<S>(csr, rows, shape.columns, backend.tiling_limits(), options.table));
  }

  PackedMatrix<S> pack_messages(const CsrView<double>& csr, std::span<const VertexId> rows) const {
    const MessagesBuildInput input = messages_input(csr, rows);
    PackedMatrix<S> packed;
    if (packs_on_device(packed, options.may_pack_on_host,
                        [&] { return backend.pack_messages(input, shape.exchange, packed.stats); }))
      return packed;
    auto matrix = build_tile_messages<S>(csr, rows, shape.columns, input.shape.bins, shape.parts);
    packed.stats = matrix.stats;
    packed.matrix = backend.make_matrix(std::move(matrix), shape.exchange);
    return packed;
  }

  PackedMatrix<S> pack_csr(const CsrView<double>& csr, std::span<const VertexId> rows) const {
    const CsrBuildInput input = csr_input(csr, rows);
    PackedMatrix<S> packed;
    if (packs_on_device(packed, options.may_pack_on_host,
                        [&] { return backend.pack_csr(input, packed.stats); }))
      return packed;
    return by_host(build_csr_matrix<S>(csr, rows, shape.columns));
  }

  template <class HostMatrix>
  PackedMatrix<S> by_host(HostMatrix matrix) const {
    PackedMatrix<S> packed;
    packed.stats = matrix.stats;
    packed.matrix = backend.make_matrix(std::move(matrix));
    return packed;
  }

  /// Whether the device has packed the matrix. may_fall_back: where it has no room, it has not.
  template <class Pack>
  bool packs_on_device(PackedMatrix<S>& packed, bool may_fall_back, const Pack& pack_input) const {
    if (!options.pack_on_device) return false;
    try {
      packed.matrix = pack_input();
    } catch (const NoRoomError&) {
      if (!may_fall_back) throw;
    }
    packed.by_device = packed.matrix != nullptr;
    return packed.by_device;
  }

  CsrBuildInput csr_input(const CsrView<double>& csr, std::span<const VertexId> rows) const {
    return {.csr = csr,
            .rows = rows,
            .slot_of_column = shape.columns.slot_of_column.data(),
            .num_slots = shape.columns.num_slots};
  }

  MessagesBuildInput messages_input(const CsrView<double>& csr, std::span<const VertexId> rows) const {
    return {.csr = csr,
            .rows = rows,
            .slot_of_column = shape.columns.slot_of_column.data(),
            .shape = {.num_rows = rows.size(),
                      .num_slots = shape.num_slots,
                      .tiles = shape.columns.tiles,
                      .tile_stride = shape.columns.tile_stride(),
                      .bins = bins_for(csr),
                      .parts = shape.parts}};
  }

  /// For the elements of this rank's rows, which are all of `csr` or some.
  BinLimits bins_for(const CsrView<double>& csr) const {
    std::uint64_t num_nonzeros = csr.num_nonzeros();
    if (comm.size() > 1) {
      const auto rows = local_rows();
      num_nonzeros = 0;
#pragma omp parallel for reduction(+ : num_nonzeros)
      for (std::size_t i = 0; i < rows.size(); ++i) num_nonzeros += shape.row_lengths[rows[i]];
    }
    return backend.tiling_limits().bins_for(num_nonzeros, options.for_updates);
  }
};

}  // namespace tessera
