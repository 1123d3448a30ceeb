// All builds in the memory of a device. They must be of one translation unit: nvcc keeps what it needs to
// copy a __host__ __device__ lambda apart for each, while the linker takes a template's function from any of
// them.
#include <optional>
#include <string>

#include "kernels/cuda/csr_build.cuh"
#include "kernels/cuda/csr_build.hpp"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/graph_preparation.cuh"
#include "kernels/cuda/messages_build.hpp"
#include "kernels/cuda/symmetric_rows.cuh"
#include "kernels/cuda/symmetric_rows.hpp"

namespace tessera::cuda {
namespace {

template <class F>
auto told_by_name(const F& work) {
  try {
    return work();
  } catch (const thrust::system_error& error) {
    throw ResourceError(std::string("CUDA: building the matrix: ") + error.what());
  }
}

}  // namespace

template <class S>
TileMessages<S> build_messages_on_device(const MessagesBuildInput& input) {
  return told_by_name([&] { return build_messages<DeviceMemory, S>(input); });
}

template <class S>
CsrMatrix<S> build_csr_on_device(const CsrBuildInput& input) {
  return told_by_name([&] { return CsrBuild<DeviceMemory, S>(input, kReadAhead).run(); });
}

std::optional<PatternRows> symmetric_rows_on_device(const CsrView<double>& pattern, std::uint64_t first_row,
                                                    std::uint64_t num_rows) {
  const std::uint64_t num_bytes =
      ResidentMatrix<DeviceMemory, float>::num_bytes(pattern, Directions::both, 0);
  if (num_bytes > DeviceMemory::free_bytes() / 2) return std::nullopt;
  std::optional<PatternRows> rows;
  try {
    rows = told_by_name([&] { return symmetric_rows<DeviceMemory>(pattern, first_row, num_rows); });
  } catch (const NoRoomError&) {
  }
  empty_pool();
  return rows;
}

PatternCsr csr_on_device(std::uint64_t num_vertices, std::uint64_t num_edges, const VertexId* rows,
                         const VertexId* cols) {
  return told_by_name([&] { return csr_of_edges<DeviceMemory>(num_vertices, num_edges, rows, cols); });
}

template <class S>
PreparedMessages<S> prepare_on_device(const PatternCsr& csr, const PreparationOptions& options) {
  return told_by_name([&] { return GraphPreparation<DeviceMemory, S>(csr, options).run(); });
}

template TileMessages<float> build_messages_on_device(const MessagesBuildInput&);
template TileMessages<double> build_messages_on_device(const MessagesBuildInput&);
template CsrMatrix<float> build_csr_on_device(const CsrBuildInput&);
template CsrMatrix<double> build_csr_on_device(const CsrBuildInput&);
template PreparedMessages<float> prepare_on_device(const PatternCsr&, const PreparationOptions&);
template PreparedMessages<double> prepare_on_device(const PatternCsr&, const PreparationOptions&);

}  // namespace tessera::cuda
