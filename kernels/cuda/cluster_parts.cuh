// What a block of a cluster that goes through steps (cuda_cluster_runs.cu) has in shared memory.
#pragma once
#include "kernels/cuda/cluster_memory.cuh"
#include "kernels/cuda/rank_run_sums.cuh"
#include "kernels/cuda/row_update.cuh"
#include "kernels/cuda/warp_barriers.cuh"

namespace tessera::cuda {

using ClusterPieces = RunPieces<false>;
inline constexpr unsigned kClusterWords = ClusterPieces::kCount + 1;  ///< and the largest change
/// Warps that add up: one for each number that has pieces, and one for the largest change.
inline constexpr unsigned kClusterNumbers = ClusterPieces::kCount / ExactSum::kFolds,
                          kClusterThreads = kClusterRowThreads + (kClusterNumbers + 1) * kWarpLanes;
/// Where threads of a block wait for each other.
inline constexpr unsigned kSumsAreThere = 1, kNextIsKnown = 2, kPiecesAreThere = 3;

struct ClusterShared {
  int of_thread[ClusterPieces::kCount][kClusterRowThreads];
  double largest[kClusterRowThreads];
  Limb of_blocks[2][kClusterBlocks][kClusterWords];  // of every second step, as the barriers
  ByteBarrier sums_are_there[2], inputs_are_there[2];
  RankUpdate update;  // what is next
  bool is_none;
  unsigned num_steps;
};

/// A block's shared memory.
template <class S>
struct ClusterParts {
  ClusterShared& shared;
  double* sums;
  std::uint32_t* words;
  ClusterTask* tasks;
  std::uint16_t* sum_of_lane;
  S* inputs;

  __device__ ClusterParts(const RunCluster& rows, unsigned char* begin)
      : ClusterParts(ClusterLayout(sizeof(ClusterShared), rows.most, rows.num_cols, sizeof(S)), begin) {}
  __device__ ClusterParts(const ClusterLayout& at, unsigned char* begin)
      : shared(*reinterpret_cast<ClusterShared*>(begin)),
        sums(reinterpret_cast<double*>(begin + at.sums)),
        words(reinterpret_cast<std::uint32_t*>(begin + at.words)),
        tasks(reinterpret_cast<ClusterTask*>(begin + at.tasks)),
        sum_of_lane(reinterpret_cast<std::uint16_t*>(begin + at.sum_of_lane)),
        inputs(reinterpret_cast<S*>(begin + at.inputs)) {}

  /// What no step changes, and the inputs of the first.
  __device__ void fill(const DeviceRun<S, RankRun>& how, const ClusterBlock& own, const ClusterBlock& next,
                       unsigned num_inputs) {
    const RunCluster& from = how.sides[0].cluster;
    const unsigned num_tasks = next.first_task - own.first_task;
    copy(from.words + own.first_word, next.first_word - own.first_word, words);
    copy(from.tasks + own.first_task, num_tasks, tasks);
    copy(from.sum_of_lane + own.first_task * kWarpLanes, num_tasks * kWarpLanes, sum_of_lane);
    for (unsigned i = threadIdx.x; i < 2 * (from.num_cols + 1); i += kClusterThreads) inputs[i] = 0;
    for (unsigned i = threadIdx.x; i < ClusterPieces::kCount * kClusterRowThreads; i += kClusterThreads)
      shared.of_thread[0][i] = 0;
    if (threadIdx.x < kClusterRowThreads) shared.largest[threadIdx.x] = 0;
    __syncthreads();
    const RankVectors<S>& v = how.sides[0].vectors;
    for (std::uint64_t i = threadIdx.x; i < num_inputs; i += kClusterThreads)
      inputs[v.places.place_of(i)] = input_of(v, v.before[i], v.scale == nullptr ? S{1} : v.scale[i]);
    if (threadIdx.x != 0) return;
    shared.update = how.run.first;
    shared.is_none = false;
    for (unsigned turn = 0; turn < 2; ++turn) {
      shared.sums_are_there[turn].start();
      shared.inputs_are_there[turn].start();
      shared.sums_are_there[turn].expect(sum_bytes());
      shared.inputs_are_there[turn].expect(num_inputs * sizeof(S));
    }
  }
  __device__ static constexpr unsigned sum_bytes() { return kClusterBlocks * kClusterWords * sizeof(Limb); }

 private:
  template <class T>
  __device__ static void copy(const T* from, unsigned count, T* to) {
    for (unsigned i = threadIdx.x; i < count; i += kClusterThreads) to[i] = from[i];
  }
};

}  // namespace tessera::cuda
