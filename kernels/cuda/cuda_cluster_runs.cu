// Steps of PageRank or HITS one after another in one cluster of blocks of threads (run_cluster.hpp). A
// block's first threads have its rows; the others add up what those leave, send it to all blocks, and decide
// what is next, while the first ones already add up the elements of the next step. The bits are those of the
// product and the update by itself (rank_kernel in cuda_vector_ops.cuh).
#include <algorithm>

#include "kernels/cuda/cluster_row_threads.cuh"
#include "kernels/cuda/cluster_sum_threads.cuh"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/shared_memory_limit.hpp"

namespace tessera::cuda {
namespace {

/// A grid of one cluster.
template <bool kWeighted, unsigned kRowsEach, class S, class Run>
__global__ void __launch_bounds__(kClusterThreads, 1)
    cluster_run_kernel(const __grid_constant__ DeviceRun<S, Run> how,
                       const __grid_constant__ RunClusters<S, DeviceRun<S, Run>::kSides> rows) {
#if CUDART_VERSION >= 12010 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
  extern __shared__ int4 raw[];
  ClusterParts<S, DeviceRun<S, Run>::kSides> parts(rows, reinterpret_cast<unsigned char*>(raw));
  parts.fill(how, rows);
  meet_in_cluster();
  if (threadIdx.x < kClusterRowThreads)
    go_through_rows<kWeighted, kRowsEach>(how, rows, parts);
  else
    ClusterSumThreads<S, Run>(how, rows, parts.shared).go();
  meet_in_cluster();  // nobody writes to a block that has ended
#endif
}

constexpr int kLeastVersion = 90;  // of what devices with clusters are compiled for

struct ClusterLaunch {
  cudaLaunchAttribute cluster{};
  cudaLaunchConfig_t config{};

  explicit ClusterLaunch(std::size_t shared_bytes) {
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {kClusterBlocks, 1, 1};
    config.gridDim = kClusterBlocks;
    config.blockDim = kClusterThreads;
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;
};

template <class S, class Run>
struct ClusterKernel {
  static constexpr unsigned kSides = DeviceRun<S, Run>::kSides;

  void (*kernel)(DeviceRun<S, Run>, RunClusters<S, kSides>);
  void (*allow_shared)(std::size_t);

  template <bool kWeighted, unsigned kRowsEach>
  static ClusterKernel of() {
    return {cluster_run_kernel<kWeighted, kRowsEach, S, Run>,
            allow_shared_bytes<cluster_run_kernel<kWeighted, kRowsEach, S, Run>>};
  }
  /// Rows go by with fewer instructions where one each is enough for the threads.
  template <bool kWeighted>
  static ClusterKernel of(std::uint32_t most_rows) {
    if (most_rows <= kClusterRowThreads) return of<kWeighted, 1>();
    return most_rows <= 2 * kClusterRowThreads ? of<kWeighted, 2>() : of<kWeighted, kMostClusterRowsEach>();
  }
  static ClusterKernel of(const RunClusters<S, kSides>& rows) {
    std::uint32_t most = 0;
    for (const RunCluster<S>& side : rows.sides) most = std::max(most, side.most.rows);
    return rows.sides[0].most.weighted ? of<true>(most) : of<false>(most);
  }
};

/// Whether blocks may have what these take.
template <class S, unsigned kSides>
bool have_room(const RunClusters<S, kSides>& rows) {
  for (const RunCluster<S>& side : rows.sides)
    if (side.most.rows > kMostClusterRowsEach * kClusterRowThreads) return false;
  return cluster_layout(rows).end <= most_shared_bytes();
}

}  // namespace

template <class S>
bool fits_in_cluster(const ClusterSizes& most) {
  if (CUDART_VERSION < 12010) return false;  // st.async came with CUDA 12.1
  RunClusters<S, 1> rows;
  rows.sides[0].most = most;
  if (!have_room(rows)) return false;
  const auto run = ClusterKernel<S, RankRun>::of(rows);
  cudaFuncAttributes attributes{};  // empty where it was compiled for devices without clusters
  TESSERA_CUDA_CALL(cudaFuncGetAttributes(&attributes, run.kernel));
  if (attributes.ptxVersion < kLeastVersion) return false;
  // For blocks that have a multiprocessor each, as those of a pair with another matrix may need one.
  const std::size_t shared_bytes = most_shared_bytes();
  ClusterLaunch launch(shared_bytes);
  run.allow_shared(shared_bytes);
  int num_clusters = 0;  // none, for example, where a device is parted into small ones
  TESSERA_CUDA_CALL(cudaOccupancyMaxActiveClusters(&num_clusters, run.kernel, &launch.config));
  return num_clusters > 0;
}

template <class S>
bool fit_in_cluster(const RunClusters<S, 2>& pair) {
  for (const RunCluster<S>& side : pair.sides)
    if (side.blocks == nullptr) return false;
  return have_room(pair);
}

template <class S, class Run>
void run_in_cluster(const DeviceRun<S, Run>& how, const RunClusters<S, DeviceRun<S, Run>::kSides>& rows) {
  const std::size_t shared_bytes = cluster_layout(rows).end;
  ClusterLaunch launch(shared_bytes);
  const auto run = ClusterKernel<S, Run>::of(rows);
  run.allow_shared(shared_bytes);
  TESSERA_CUDA_CALL(cudaLaunchKernelEx(&launch.config, run.kernel, how, rows));
}

#define TESSERA_INSTANTIATE(S)                                                          \
  template bool fits_in_cluster<S>(const ClusterSizes&);                                \
  template bool fit_in_cluster<S>(const RunClusters<S, 2>&);                            \
  template void run_in_cluster(const DeviceRun<S, RankRun>&, const RunClusters<S, 1>&); \
  template void run_in_cluster(const DeviceRun<S, PairRun>&, const RunClusters<S, 2>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cuda
