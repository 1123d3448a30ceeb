#include "kernels/cuda/graph_preparation.cuh"

#include <string>

namespace tessera::cuda {
namespace {

template <class F>
auto in_room(const F& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw ResourceError("the GPU has no room to prepare the graph; use several GPUs or build on the host");
  } catch (const thrust::system_error& error) {
    throw ResourceError(std::string("CUDA: preparing the graph: ") + error.what());
  }
}

}  // namespace

PatternCsr csr_on_device(std::uint64_t num_vertices, std::uint64_t num_edges, const VertexId* rows,
                         const VertexId* cols) {
  return in_room([&] { return csr_of_edges<DeviceMemory>(num_vertices, num_edges, rows, cols); });
}

template <class S>
PreparedMessages<S> prepare_on_device(const PatternCsr& csr, const PreparationOptions& options) {
  return in_room([&] { return GraphPreparation<DeviceMemory, S>(csr, options).run(); });
}

template PreparedMessages<float> prepare_on_device(const PatternCsr&, const PreparationOptions&);
template PreparedMessages<double> prepare_on_device(const PatternCsr&, const PreparationOptions&);

}  // namespace tessera::cuda
