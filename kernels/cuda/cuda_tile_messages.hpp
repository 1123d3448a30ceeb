// A matrix in the tile-messages form on the device.
#pragma once
#include <memory>

#include "kernels/backend.hpp"

namespace tessera::cuda {

/// The form with all Buffers in device memory.
template <class S>
TileMessages<S> on_device(const TileMessages<S>& host);

/// Takes a form that lies on the device and deals its slices to the multiprocessors. Tiles whose x is in
/// place begin while `exchange`, if any, still brings the rest.
template <class S>
std::unique_ptr<Matrix<S>> make_tile_messages(TileMessages<S> matrix, unsigned num_multiprocessors,
                                              std::shared_ptr<Exchange<S>> exchange);

}  // namespace tessera::cuda
