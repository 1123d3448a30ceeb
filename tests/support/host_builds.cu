#include "tests/support/host_builds.hpp"

#include "kernels/cuda/csr_build.cuh"
#include "kernels/cuda/graph_preparation.cuh"
#include "kernels/cuda/symmetric_rows.cuh"

namespace tessera::test {

using cuda::HostMemory;

template <class S>
TileMessages<S> build_messages_in_host_memory(const MessagesBuildInput& input) {
  return tessera::cuda::build_messages<HostMemory, S>(input);
}
template <class S>
CsrMatrix<S> build_csr_in_host_memory(const CsrBuildInput& input, std::uint64_t num_more) {
  return tessera::cuda::CsrBuild<HostMemory, S>(input, num_more).run();
}
PatternRows symmetric_rows_in_host_memory(const CsrView<double>& pattern, std::uint64_t first_row,
                                          std::uint64_t num_rows) {
  return tessera::cuda::symmetric_rows<HostMemory>(pattern, first_row, num_rows);
}
cuda::PatternCsr csr_in_host_memory(std::uint64_t num_vertices, std::uint64_t num_edges, const VertexId* rows,
                                    const VertexId* cols) {
  return tessera::cuda::csr_of_edges<HostMemory>(num_vertices, num_edges, rows, cols);
}
template <class S>
cuda::PreparedMessages<S> prepare_in_host_memory(const cuda::PatternCsr& csr,
                                                 const cuda::PreparationOptions& options) {
  return tessera::cuda::GraphPreparation<HostMemory, S>(csr, options).run();
}

FreeBytesOfBuilds::FreeBytesOfBuilds(std::uint64_t num_bytes) { HostMemory::most_free_bytes = num_bytes; }
FreeBytesOfBuilds::~FreeBytesOfBuilds() { HostMemory::most_free_bytes = ~std::uint64_t{0}; }

std::uint64_t most_bytes_of_builds() { return HostMemory::most_bytes.exchange(HostMemory::num_bytes_now); }

template TileMessages<float> build_messages_in_host_memory(const MessagesBuildInput&);
template TileMessages<double> build_messages_in_host_memory(const MessagesBuildInput&);
template CsrMatrix<float> build_csr_in_host_memory(const CsrBuildInput&, std::uint64_t);
template CsrMatrix<double> build_csr_in_host_memory(const CsrBuildInput&, std::uint64_t);
template tessera::cuda::PreparedMessages<float> prepare_in_host_memory(
    const tessera::cuda::PatternCsr&, const tessera::cuda::PreparationOptions&);
template tessera::cuda::PreparedMessages<double> prepare_in_host_memory(
    const tessera::cuda::PatternCsr&, const tessera::cuda::PreparationOptions&);

}  // namespace tessera::test
