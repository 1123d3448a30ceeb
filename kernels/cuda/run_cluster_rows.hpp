// The rows of a CSR matrix dealt to a cluster (run_cluster.hpp), in device memory, as runs of steps go
// through them. Host code.
#pragma once
#include <span>

#include "kernels/base/buffer.hpp"
#include "kernels/cuda/run_cluster.hpp"

namespace tessera::cuda {

/// In device memory, but for the sizes; as ClusterDeal has them.
template <class S>
struct RunCluster {
  const ClusterBlock* blocks = nullptr;  ///< or null: no cluster
  const ClusterTask* tasks = nullptr;
  const std::uint16_t* sum_of_lane = nullptr;
  const std::uint32_t* words = nullptr;
  const S* values = nullptr;  ///< two a word, of weighted matrices
  const ClusterRow* rows = nullptr;
  ClusterSizes most;
};

template <class S>
class RunClusterRows {
 public:
  /// values: of the matrix's elements, or none; host memory.
  RunClusterRows(const ClusterDeal& deal, std::span<const S> values);
  RunCluster<S> view() const;

 private:
  Buffer<ClusterBlock> blocks_;
  Buffer<ClusterTask> tasks_;
  Buffer<std::uint16_t> sum_of_lane_;
  Buffer<std::uint32_t> words_;
  Buffer<S> values_;
  Buffer<ClusterRow> rows_;
  ClusterSizes most_;
};

}  // namespace tessera::cuda
