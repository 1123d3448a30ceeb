// Steps of PageRank one after another in one cluster of blocks of threads (run_cluster.hpp). A block's first
// threads have its rows; the others add up what those leave, send it to all blocks, and decide what is next,
// while the first ones already add up the elements of the next step. The bits are those of the product and
// the update by itself (rank_kernel in cuda_vector_ops.cuh).
#include "kernels/cuda/cluster_row_threads.cuh"
#include "kernels/cuda/cluster_sum_threads.cuh"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/shared_memory_limit.hpp"

namespace tessera::cuda {
namespace {

/// A grid of one cluster.
template <class S, unsigned kRowsEach>
__global__ void __launch_bounds__(kClusterThreads, 1)
    cluster_run_kernel(const __grid_constant__ DeviceRun<S, RankRun> how) {
#if CUDART_VERSION >= 12010 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
  extern __shared__ int4 raw[];
  const RunSide<S>& side = how.sides[0];
  const ClusterBlock own = side.cluster.blocks[blockIdx.x], next = side.cluster.blocks[blockIdx.x + 1];
  ClusterParts<S> parts(side.cluster, reinterpret_cast<unsigned char*>(raw));
  const auto num_inputs = static_cast<unsigned>(min(side.vectors.places.count, side.vectors.num_rows));
  parts.fill(how, own, next, num_inputs);
  meet_in_cluster();
  if (threadIdx.x < kClusterRowThreads) {
    ClusterRowThreads<S, kRowsEach>(how, parts, own, next).go(num_inputs * sizeof(S));
  } else {
    const std::uint32_t num_rows = next.first_row - own.first_row;
    ClusterSumThreads(parts.shared, min(kClusterRowThreads, num_rows)).go(how);
  }
  meet_in_cluster();  // nobody writes to a block that has ended
  if (blockIdx.x != 0) return;
  // Of steps that there were not the host gets zeros.
  for (unsigned i = kSumWords * parts.shared.num_steps + threadIdx.x; i < kSumWords * how.box.num_vectors;
       i += kClusterThreads)
    send_word(0, how.box.number, how.box.host + kHalves * i);
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

/// Rows that go by with fewer instructions, where that is enough for the threads.
constexpr unsigned kFewRowsEach = 1;
template <class S>
auto* kernel_for(const ClusterSizes& most) {
  return most.rows <= kFewRowsEach * kClusterRowThreads ? cluster_run_kernel<S, kFewRowsEach>
                                                        : cluster_run_kernel<S, kMostClusterRowsEach>;
}
template <class S>
void allow_shared_bytes(const ClusterSizes& most, std::size_t num_bytes) {
  if (most.rows <= kFewRowsEach * kClusterRowThreads)
    cuda::allow_shared_bytes<cluster_run_kernel<S, kFewRowsEach>>(num_bytes);
  else
    cuda::allow_shared_bytes<cluster_run_kernel<S, kMostClusterRowsEach>>(num_bytes);
}

template <class S>
std::size_t shared_bytes(const ClusterSizes& most, std::uint64_t num_cols) {
  return ClusterLayout(sizeof(ClusterShared), most, num_cols, sizeof(S)).end;
}

}  // namespace

template <class S>
bool fits_in_cluster(const ClusterSizes& most, std::uint64_t num_cols) {
  if (CUDART_VERSION < 12010) return false;  // st.async came with CUDA 12.1
  int device = 0, bytes = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const std::size_t needed = shared_bytes<S>(most, num_cols);
  if (most.rows > kMostClusterRowsEach * kClusterRowThreads || needed > static_cast<std::size_t>(bytes))
    return false;
  cudaFuncAttributes attributes{};  // empty where it was compiled for devices without clusters
  TESSERA_CUDA_CALL(cudaFuncGetAttributes(&attributes, kernel_for<S>(most)));
  if (attributes.ptxVersion < kLeastVersion) return false;
  ClusterLaunch launch(needed);
  allow_shared_bytes<S>(most, needed);
  int num_clusters = 0;  // none, for example, where a device is parted into small ones
  TESSERA_CUDA_CALL(cudaOccupancyMaxActiveClusters(&num_clusters, kernel_for<S>(most), &launch.config));
  return num_clusters > 0;
}

template <class S>
void run_in_cluster(const DeviceRun<S, RankRun>& how) {
  const RunCluster& rows = how.sides[0].cluster;
  ClusterLaunch launch(shared_bytes<S>(rows.most, rows.num_cols));
  allow_shared_bytes<S>(rows.most, launch.config.dynamicSmemBytes);
  TESSERA_CUDA_CALL(cudaLaunchKernelEx(&launch.config, kernel_for<S>(rows.most), how));
}

#define TESSERA_INSTANTIATE(S)                                          \
  template bool fits_in_cluster<S>(const ClusterSizes&, std::uint64_t); \
  template void run_in_cluster(const DeviceRun<S, RankRun>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cuda
