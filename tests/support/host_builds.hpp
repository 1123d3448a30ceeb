// The builds for devices, run in host memory: one translation unit has them (kernels/cuda/device_builds.cu
// says why).
#pragma once
#include "kernels/csr_build_input.hpp"
#include "kernels/cuda/graph_preparation.hpp"
#include "kernels/messages_build_input.hpp"
#include "kernels/pattern_rows.hpp"
#include "kernels/tile_composite.hpp"

namespace tessera::test {

template <class S>
TileMessages<S> build_messages_in_host_memory(const MessagesBuildInput& input);
template <class S>
CsrMatrix<S> build_csr_in_host_memory(const CsrBuildInput& input, std::uint64_t num_more);
PatternRows symmetric_rows_in_host_memory(const CsrView<double>& pattern, std::uint64_t first_row,
                                          std::uint64_t num_rows);
cuda::PatternCsr csr_in_host_memory(std::uint64_t num_vertices, std::uint64_t num_edges, const VertexId* rows,
                                    const VertexId* cols);
template <class S>
cuda::PreparedMessages<S> prepare_in_host_memory(const cuda::PatternCsr& csr,
                                                 const cuda::PreparationOptions& options);

/// As if so much were free, while it lives.
class FreeBytesOfBuilds {
 public:
  explicit FreeBytesOfBuilds(std::uint64_t num_bytes);
  ~FreeBytesOfBuilds();
  FreeBytesOfBuilds(const FreeBytesOfBuilds&) = delete;
  FreeBytesOfBuilds& operator=(const FreeBytesOfBuilds&) = delete;
};

/// That builds had at most since the last call; for tests that run alone.
std::uint64_t most_bytes_of_builds();

}  // namespace tessera::test
