#include <new>
#include <string>

#include "kernels/cuda/messages_build.cuh"
#include "kernels/cuda/messages_build.hpp"

namespace tessera::cuda {

template <class S>
TileMessages<S> build_messages_on_device(const MessagesBuildInput& input) {
  try {
    return build_messages<DeviceMemory, S>(input);
  } catch (const std::bad_alloc&) {
    throw ResourceError(
        "the GPU has no room to pack the matrix; use --pack host, more GPUs or --precision f32");
  } catch (const thrust::system_error& error) {
    throw ResourceError(std::string("CUDA: packing the matrix: ") + error.what());
  }
}

template TileMessages<float> build_messages_on_device(const MessagesBuildInput&);
template TileMessages<double> build_messages_on_device(const MessagesBuildInput&);

}  // namespace tessera::cuda
