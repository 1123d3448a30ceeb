// What a block of a cluster that goes through steps (cuda_cluster_runs.cu) has in shared memory.
#pragma once
#include "kernels/cuda/cluster_memory.cuh"
#include "kernels/cuda/rank_run_sums.cuh"
#include "kernels/cuda/row_update.cuh"

namespace tessera::cuda {

using ClusterPieces = RunPieces<false>;
inline constexpr unsigned kClusterWords = ClusterPieces::kCount + 1;  ///< and the largest change
/// Warps that add up: one for each number that has pieces, and one for the largest change.
inline constexpr unsigned kClusterNumbers = ClusterPieces::kCount / ExactSum::kFolds,
                          kClusterThreads = kClusterRowThreads + (kClusterNumbers + 1) * kWarpLanes;
/// All threads of a block, twice a step: when the pieces of its rows are there, and when sums of its elements
/// are, and the next step is known. (Rows that met without those who find the next step would gain nothing,
/// and racecheck does not follow barriers of some warps.)
__device__ inline void meet_in_block() {
  __syncwarp();
  asm volatile("barrier.sync 0;" ::: "memory");
}

struct ClusterShared {
  int of_thread[ClusterPieces::kCount][kClusterRowThreads];
  double largest[kClusterRowThreads];
  Limb of_blocks[2][kClusterBlocks][kClusterWords];  // of every second step, as the barriers
  ByteBarrier sums_are_there[2], inputs_are_there[2];
  RankUpdate update;  // what is next
  bool is_none;
};

template <class S, unsigned kSides>
TESSERA_HD ClusterLayout<kSides> cluster_layout(const RunClusters<S, kSides>& rows) {
  ClusterSizes most[kSides];
  for (unsigned side = 0; side < kSides; ++side) most[side] = rows.sides[side].most;
  return {sizeof(ClusterShared), most, sizeof(S)};
}

/// Inputs that the scores of a side are.
template <class S>
__device__ inline unsigned num_inputs_of(const RankVectors<S>& v) {
  return static_cast<unsigned>(min(v.places.count, v.num_rows));
}

/// Rows of this block that have a score: of a matrix those behind the last score have none.
template <class S>
__device__ inline std::uint32_t num_rows_of_block(const RunCluster<S>& rows, const RankVectors<S>& v) {
  const VertexId first = rows.blocks[blockIdx.x].first_row;
  const auto end =
      static_cast<VertexId>(min(std::uint64_t{rows.blocks[blockIdx.x + 1].first_row}, v.num_rows));
  return end > first ? end - first : 0;
}

/// A block's shared memory.
template <class S, unsigned kSides>
struct ClusterParts {
  struct Side {
    std::uint32_t* words;
    S* values;
    ClusterTask* tasks;
    std::uint16_t* sum_of_lane;
  } sides[kSides];
  ClusterShared& shared;
  double* sums;
  S* inputs;
  unsigned stride;  ///< inputs of odd steps lie so far behind those of even ones

  __device__ ClusterParts(const RunClusters<S, kSides>& rows, unsigned char* begin)
      : ClusterParts(cluster_layout(rows), begin) {}
  __device__ ClusterParts(const ClusterLayout<kSides>& at, unsigned char* begin)
      : shared(*reinterpret_cast<ClusterShared*>(begin)),
        sums(reinterpret_cast<double*>(begin + at.sums)),
        inputs(reinterpret_cast<S*>(begin + at.inputs[0])),
        stride(static_cast<unsigned>((at.inputs[1] - at.inputs[0]) / sizeof(S))) {
    for (unsigned side = 0; side < kSides; ++side)
      sides[side] = {reinterpret_cast<std::uint32_t*>(begin + at.sides[side].words),
                     reinterpret_cast<S*>(begin + at.sides[side].values),
                     reinterpret_cast<ClusterTask*>(begin + at.sides[side].tasks),
                     reinterpret_cast<std::uint16_t*>(begin + at.sides[side].sum_of_lane)};
  }

  /// Which side's scores the inputs of even steps (turn 0) or of odd ones are.
  __device__ static constexpr unsigned side_before(unsigned turn) { return (turn + 1) % kSides; }
  __device__ static constexpr unsigned sum_bytes() { return kClusterBlocks * kClusterWords * sizeof(Limb); }

  /// What no step changes, and the inputs of the first.
  template <class Run>
  __device__ void fill(const DeviceRun<S, Run>& how, const RunClusters<S, kSides>& rows) {
    for (unsigned side = 0; side < kSides; ++side) fill(rows.sides[side], sides[side]);
    const unsigned end = stride + rows.sides[kSides - 1].most.cols + 1;
    for (unsigned i = threadIdx.x; i < end; i += kClusterThreads) inputs[i] = 0;
    for (unsigned i = threadIdx.x; i < ClusterPieces::kCount * kClusterRowThreads; i += kClusterThreads)
      shared.of_thread[0][i] = 0;
    if (threadIdx.x < kClusterRowThreads) shared.largest[threadIdx.x] = 0;
    __syncthreads();
    const RankVectors<S>& v = how.sides[side_before(0)].vectors;
    for (std::uint64_t i = threadIdx.x; i < num_inputs_of(v); i += kClusterThreads)
      inputs[v.places.place_of(i)] = input_of(v, v.before[i], v.scale == nullptr ? S{1} : v.scale[i]);
    if (threadIdx.x != 0) return;
    shared.update = how.run.first_update();
    shared.is_none = false;
    for (unsigned turn = 0; turn < 2; ++turn) {
      shared.sums_are_there[turn].start();
      shared.inputs_are_there[turn].start();
      shared.sums_are_there[turn].expect(sum_bytes());
      shared.inputs_are_there[turn].expect(num_inputs_of(how.sides[side_before(turn)].vectors) * sizeof(S));
    }
  }

 private:
  __device__ static void fill(const RunCluster<S>& from, const Side& to) {
    const ClusterBlock own = from.blocks[blockIdx.x], next = from.blocks[blockIdx.x + 1];
    const unsigned num_tasks = next.first_task - own.first_task;
    const unsigned num_words = next.first_word - own.first_word;
    copy(from.words + own.first_word, num_words, to.words);
    if (from.values != nullptr) copy(from.values + 2 * own.first_word, 2 * num_words, to.values);
    copy(from.tasks + own.first_task, num_tasks, to.tasks);
    copy(from.sum_of_lane + own.first_task * kWarpLanes, num_tasks * kWarpLanes, to.sum_of_lane);
  }
  template <class T>
  __device__ static void copy(const T* from, unsigned count, T* to) {
    for (unsigned i = threadIdx.x; i < count; i += kClusterThreads) to[i] = from[i];
  }
};

}  // namespace tessera::cuda
