// Builds the tile-messages form where it will be used: on the device.
#pragma once
#include "kernels/messages_build_input.hpp"
#include "kernels/tile_messages.hpp"

namespace tessera::cuda {

/// All Buffers of the result lie in device memory. Throws ResourceError when that does not suffice.
template <class S>
TileMessages<S> build_messages_on_device(const MessagesBuildInput& input);

}  // namespace tessera::cuda
