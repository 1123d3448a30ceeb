// Packs rows into the tile-messages form: this build is the definition of the form, to which a build on a
// device must be equal byte for byte.
#pragma once
#include <span>

#include "engine/column_order.hpp"
#include "kernels/csr_view.hpp"
#include "kernels/message_bins.hpp"
#include "kernels/tile_messages.hpp"

namespace tessera {

/// Row i of the result is row `rows[i]` of `csr`, as in build_tile_composite. All tiles of `columns` must be
/// narrow. Bins hold whole rows, in local order, as cut_bins cuts them. Throws ResourceError when a row sends
/// more messages than a bin holds. parts: where each tile lies in x, unless in one piece.
template <class S>
TileMessages<S> build_tile_messages(const CsrView<double>& csr, std::span<const VertexId> rows,
                                    const ColumnOrder& columns, const BinLimits& bins,
                                    std::span<const WindowPart> parts = {});

}  // namespace tessera
