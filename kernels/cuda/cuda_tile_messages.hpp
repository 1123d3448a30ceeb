// A matrix in the tile-messages form on the device.
#pragma once
#include <memory>

#include "kernels/backend.hpp"

namespace tessera::cuda {

/// Copies the form to the device and deals its slices to the multiprocessors.
template <class S>
std::unique_ptr<Matrix<S>> make_tile_messages(TileMessages<S> host, unsigned num_blocks);

}  // namespace tessera::cuda
