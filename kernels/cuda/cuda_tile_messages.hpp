// A matrix in the tile-messages form on the device.
#pragma once
#include <memory>

#include "kernels/backend.hpp"

namespace tessera::cuda {

/// Copies the form to the device and deals its slices to the multiprocessors. Tiles whose x is in place begin
/// while `exchange`, if any, still brings the rest.
template <class S>
std::unique_ptr<Matrix<S>> make_tile_messages(const TileMessages<S>& host, unsigned num_multiprocessors,
                                              std::shared_ptr<Exchange<S>> exchange);

}  // namespace tessera::cuda
