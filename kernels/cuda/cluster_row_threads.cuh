// The threads of a cluster's blocks that have rows: a step's sums of elements, scores, and inputs of the
// next.
#pragma once
#include <type_traits>

#include "kernels/cuda/cluster_parts.cuh"
#include "kernels/cuda/cuda_row_sum.cuh"

namespace tessera::cuda {

/// What a lane adds up of a task.
template <bool kWeighted, class S>
class LaneSum {
 public:
  __device__ LaneSum(const std::uint32_t* words, const S* values, const S* inputs)
      : words_(words), values_(values), inputs_(inputs) {}

  /// Of a row of up to kElements, as thread_sum().
  template <unsigned kElements>
  __device__ double of_row() const {
    constexpr unsigned kUsed = kElements < kSumLanes ? kElements : kSumLanes;
    double lanes[kUsed];
#pragma unroll
    for (unsigned j = 0; j < kUsed; j += 2) read(j, lanes[j], lanes[j + 1]);
#pragma unroll
    for (unsigned j = kUsed; j < kElements; j += 2) {
      double first, second;
      read(j, first, second);
      lanes[j - kUsed] += first, lanes[j - kUsed + 1] += second;
    }
#pragma unroll
    for (unsigned distance = 1; distance < kUsed; distance *= 2)
#pragma unroll
      for (unsigned j = 0; j < kUsed; j += 2 * distance) lanes[j] += lanes[j + distance];
    return lanes[0];
  }
  /// Of a chunk that kSumLanes lanes have, as group_sum(). Whole warps call.
  __device__ double of_chunk(unsigned num_elements) const {
    double sum = 0;
    unsigned k = 0;
#pragma unroll 1
    for (; k + 8 <= num_elements; k += 8) add<8>(k, sum);
    if (k < num_elements) add<4>(k, sum);
#pragma unroll
    for (unsigned distance = 1; distance < kSumLanes; distance *= 2)
      sum += __shfl_xor_sync(~0u, sum, distance);
    return sum;
  }

 private:
  __device__ void read(unsigned k, double& first, double& second) const {
    const unsigned at = k / 2 * kWarpLanes;
    const std::uint32_t word = words_[at];
    S values[2] = {};
    if constexpr (kWeighted) {
      const Pair pair = *reinterpret_cast<const Pair*>(values_ + 2 * at);
      values[0] = pair.x, values[1] = pair.y;
    }
    first = product<kWeighted>(values, 0, inputs_[word & 0xffff]);
    second = product<kWeighted>(values, 1, inputs_[word >> 16]);
  }
  template <unsigned kCount>
  __device__ void add(unsigned k, double& sum) const {
    double terms[kCount];
#pragma unroll
    for (unsigned j = 0; j < kCount; j += 2) read(k + j, terms[j], terms[j + 1]);
#pragma unroll
    for (unsigned j = 0; j < kCount; ++j) sum += terms[j];
  }

  using Pair = std::conditional_t<sizeof(S) == 4, float2, double2>;

  const std::uint32_t* const words_;
  const S *const values_, *const inputs_;
};

/// What a thread needs to write to all blocks.
template <class S>
class ClusterInputs {
 public:
  template <unsigned kSides>
  __device__ explicit ClusterInputs(const ClusterParts<S, kSides>& parts) : stride_(parts.stride) {
    const auto begin = static_cast<SharedAddress>(__cvta_generic_to_shared(&parts.shared));
    inputs_at_ = static_cast<SharedAddress>(__cvta_generic_to_shared(parts.inputs)) - begin;
    barriers_at_ = parts.shared.inputs_are_there[0].address() - begin;
#pragma unroll
    for (unsigned block = 0; block < kClusterBlocks; ++block) begin_in_[block] = address_in(block, begin);
  }
  __device__ void put(std::uint32_t place, S input, unsigned turn) const {
    const SharedAddress at = inputs_at_ + (turn * stride_ + place) * sizeof(S),
                        barrier = barriers_at_ + turn * sizeof(ByteBarrier);
#pragma unroll
    for (unsigned block = 0; block < kClusterBlocks; ++block)
      send(begin_in_[block] + at, input, begin_in_[block] + barrier);
  }

 private:
  const unsigned stride_;
  SharedAddress inputs_at_, barriers_at_, begin_in_[kClusterBlocks];  // of shared memory in each block
};

/// The rows of one side of a block's first kClusterRowThreads threads, up to kRowsEach each.
template <bool kWeighted, class S, unsigned kRowsEach, unsigned kSides>
class ClusterRows {
 public:
  __device__ ClusterRows(const RunSide<S>& side, const RunCluster<S>& from, const ExactScale& bound,
                         const ClusterParts<S, kSides>& parts, unsigned which_side)
      : v_(side.vectors), bound_(bound), parts_(parts), own_(parts.sides[which_side]) {
    const ClusterBlock own = from.blocks[blockIdx.x], next = from.blocks[blockIdx.x + 1];
    first_row_ = own.first_row;
    num_rows_ = num_rows_of_block(from, v_);
    num_tasks_ = next.first_task - own.first_task;
    each_row([&](unsigned j, std::uint64_t i) {
      row_[j] = from.rows[i];
      score_[j] = v_.before[i];
      scale_[j] = v_.scale == nullptr ? S{1} : v_.scale[i];
      if (i < v_.places.count) place_[j] = v_.places.place_of(i);
    });
    const unsigned task = threadIdx.x / kWarpLanes;
    if (task < num_tasks_) {
      first_task_ = own_.tasks[task];
      first_sum_ = own_.sum_of_lane[threadIdx.x];
    }
  }
  /// Step `step`, which reads the inputs of `turn`; num_bytes: of those. False where there is none any more.
  __device__ bool step(unsigned step, unsigned turn, unsigned num_bytes, const ClusterInputs<S>& inputs) {
    // A round of no bytes would be over, and the next one, too, before all have seen it.
    if (step > 0 && num_bytes > 0) {
      ByteBarrier& there = parts_.shared.inputs_are_there[turn];
      there.wait((step - 1) / 2);
      if (threadIdx.x == 0) there.expect(num_bytes);
    }
    add_up(parts_.inputs + turn * parts_.stride);
    meet_in_block();
    if (parts_.shared.is_none) return false;
    finish(parts_.shared.update, 1 - turn, inputs);
    return true;
  }
  __device__ void leave() const {
    each_row([&](unsigned j, std::uint64_t i) { v_.score[i] = score_[j]; });
  }

 private:
  template <class Use>
  __device__ void each_row(const Use& use) const {
#pragma unroll
    for (unsigned j = 0; j < kRowsEach; ++j) {
      const std::uint32_t row = j * kClusterRowThreads + threadIdx.x;
      if (row < num_rows_) use(j, std::uint64_t{first_row_} + row);
    }
  }
  /// A warp's tasks, of which it remembers the first.
  __device__ void add_up(const S* inputs) const {
    constexpr unsigned kWarps = kClusterRowThreads / kWarpLanes;
    const unsigned first = threadIdx.x / kWarpLanes, lane = threadIdx.x % kWarpLanes;
    if (first < num_tasks_) add_up(first_task_, first_sum_, inputs);
    for (unsigned t = first + kWarps; t < num_tasks_; t += kWarps)
      add_up(own_.tasks[t], own_.sum_of_lane[t * kWarpLanes + lane], inputs);
  }
  __device__ void add_up(const ClusterTask& task, std::uint16_t to, const S* inputs) const {
    const unsigned lane = threadIdx.x % kWarpLanes;
    const unsigned first = task.first_word + lane;
    const double sum =
        sum_of(task, LaneSum<kWeighted, S>(own_.words + first, own_.values + 2 * first, inputs));
    if (to != kNoClusterSum) parts_.sums[to] = sum;
  }
  __device__ static double sum_of(const ClusterTask& task, const LaneSum<kWeighted, S>& lane) {
    if (task.is_of_chunks) return lane.of_chunk(task.num_elements);
    switch (task.num_elements) {
      case 2:
        return lane.template of_row<2>();
      case 4:
        return lane.template of_row<4>();
      case 8:
        return lane.template of_row<8>();
      default:
        return lane.template of_row<16>();
    }
  }
  /// From 0 on, so that a sum of negative zeros is the same.
  __device__ double sum_of(const ClusterRow& row) const {
    double sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < row.num_sums; ++k) sum += parts_.sums[row.first_sum + k];
    return sum;
  }
  /// Inputs first, on which all blocks wait.
  __device__ void finish(const RankUpdate& update, unsigned next_turn, const ClusterInputs<S>& inputs) {
    S now[kRowsEach];
    each_row([&](unsigned j, std::uint64_t i) {
      now[j] = new_rank(update, v_, i, sum_of(row_[j]));
      if (i < v_.places.count) inputs.put(place_[j], input_of(v_, now[j], scale_[j]), next_turn);
    });
    ClusterPieces pieces;
    each_row([&](unsigned j, std::uint64_t) {
      pieces.template add_row<kSides == 2>(bound_,
                                           static_cast<double>(now[j]) - static_cast<double>(score_[j]),
                                           static_cast<double>(now[j]), scale_[j], v_.are_masses);
      score_[j] = now[j];
    });
    // Whoever adds up reads four threads' at a time; the other side's rows may have been more.
    if (threadIdx.x < round_up(num_rows_, 4u)) {
#pragma unroll
      for (unsigned word = 0; word < ClusterPieces::kCount; ++word)
        parts_.shared.of_thread[word][threadIdx.x] = pieces.words[word];
      parts_.shared.largest[threadIdx.x] = pieces.change_max;
    }
    meet_in_block();
  }

  const RankVectors<S>& v_;
  const ExactScale& bound_;
  const ClusterParts<S, kSides>& parts_;
  const typename ClusterParts<S, kSides>::Side own_;
  VertexId first_row_;
  std::uint32_t num_rows_, num_tasks_;
  ClusterTask first_task_;
  std::uint16_t first_sum_ = kNoClusterSum;
  ClusterRow row_[kRowsEach];
  S score_[kRowsEach], scale_[kRowsEach];
  VertexId place_[kRowsEach];
};

/// Behind the first filling, until there is no next step, by a block's first kClusterRowThreads threads.
template <bool kWeighted, unsigned kRowsEach, class S>
__device__ void go_through_rows(const DeviceRun<S, RankRun>& how, const RunClusters<S, 1>& from,
                                const ClusterParts<S, 1>& parts) {
  const ClusterInputs<S> inputs(parts);
  const unsigned num_bytes = num_inputs_of(how.sides[0].vectors) * sizeof(S);
  ClusterRows<kWeighted, S, kRowsEach, 1> rows(how.sides[0], from.sides[0], how.bound, parts, 0);
  for (unsigned step = 0; rows.step(step, step % 2, num_bytes, inputs);) ++step;
  rows.leave();
}
template <bool kWeighted, unsigned kRowsEach, class S>
__device__ void go_through_rows(const DeviceRun<S, PairRun>& how, const RunClusters<S, 2>& from,
                                const ClusterParts<S, 2>& parts) {
  const ClusterInputs<S> inputs(parts);
  const unsigned of_first = num_inputs_of(how.sides[0].vectors) * sizeof(S),
                 of_second = num_inputs_of(how.sides[1].vectors) * sizeof(S);
  ClusterRows<kWeighted, S, kRowsEach, 2> firsts(how.sides[0], from.sides[0], how.bound, parts, 0),
      seconds(how.sides[1], from.sides[1], how.bound, parts, 1);
  for (unsigned step = 0; firsts.step(step, 0, of_second, inputs); step += 2)
    if (!seconds.step(step + 1, 1, of_first, inputs)) break;
  firsts.leave();
  seconds.leave();
}

}  // namespace tessera::cuda
