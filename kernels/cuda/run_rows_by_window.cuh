// The rows of a block of threads in runs of steps of graphs that registers do not hold (run_windows.hpp): a
// step brings the window's inputs to shared memory, where all elements read them. Scores, and what no step
// changes, come from L2, a row ahead of when they are needed.
#pragma once
#include "kernels/cuda/rank_run_sums.cuh"
#include "kernels/cuda/row_update.cuh"
#include "kernels/cuda/run_row_sums.cuh"

namespace tessera::cuda {

/// By all threads of a block of kRankRunThreads, as RankRunRows.
template <bool kWeighted, bool kOfPair, class S>
class RunRowsByWindow {
 public:
  struct Scratch {};
  /// Of these rows.
  struct Kept {
    VertexId first_row;
    std::uint32_t num_rows, num_inputs, num_chunks;
  };
  /// What a block has of shared memory besides: its window, what is kept of each side, and what is left.
  class Room {
   public:
    template <class How>
    __device__ Room(const How& how, void* begin) {
      WindowSizes most;
      for (const RunSide<S>& side : how.sides) most = largest(most, side.windows.most);
      auto* const bytes = static_cast<unsigned char*>(begin);
      chunk_sums = reinterpret_cast<double*>(bytes);
      inputs = reinterpret_cast<S*>(chunk_sums + most.chunks);
      left_ = next_side_ = bytes + window_bytes<S>(most);
      for (const RunSide<S>& side : how.sides) left_ += side_bytes(side.windows.most);
      asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(left_bytes_));
      extern __shared__ double raw[];
      left_bytes_ -= static_cast<std::uint32_t>(left_ - reinterpret_cast<unsigned char*>(raw));
    }
    __device__ unsigned char* take_side(const WindowSizes& most) {
      unsigned char* const side = next_side_;
      next_side_ += side_bytes(most);
      return side;
    }
    /// A copy, where there is room, or where it lies. Before a barrier.
    template <class T>
    __device__ const T* near(const T* from, std::uint32_t count) {
      const std::uint32_t bytes = round_up<std::uint32_t>(count * sizeof(T), 16);
      if (bytes > left_bytes_) return from;
      T* const to = reinterpret_cast<T*>(left_);
      left_ += bytes, left_bytes_ -= bytes;
      copy(from, count, to);
      return to;
    }

    double* chunk_sums;  ///< of a step, as the inputs, for the rows of all sides
    S* inputs;

   private:
    unsigned char *next_side_, *left_;
    std::uint32_t left_bytes_;
  };

  __device__ RunRowsByWindow(const RunSide<S>& side, Kept& kept, Scratch&, Room& room)
      : v_(side.vectors), kept_(kept), chunk_sums_(room.chunk_sums), window_(room.inputs) {
    const RunWindows& from = side.windows;
    // A block more than there are windows has none of the rows.
    const RunWindow own = from.windows[min(blockIdx.x, from.num_windows)],
                    next = from.windows[min(blockIdx.x + 1, from.num_windows)];
    const auto num_elements = static_cast<std::uint32_t>(next.first_element - own.first_element);
    const auto end = static_cast<VertexId>(min(std::uint64_t{next.first_row}, v_.num_rows));
    if (threadIdx.x == 0)
      kept = {own.first_row, end > own.first_row ? end - own.first_row : 0, own.num_inputs, own.num_chunks};
    rows_ = from.rows;
    chunks_ = reinterpret_cast<WindowChunk*>(room.take_side(from.most));
    places_ = reinterpret_cast<std::uint16_t*>(chunks_ + from.most.chunks);
    copy(from.chunks + own.first_chunk, own.num_chunks, chunks_);
    copy(from.places + own.first_element, num_elements, places_);
    inputs_ = room.near(from.inputs + own.first_element, own.num_inputs);
    if constexpr (kWeighted) values_ = room.near(side.a.values + own.first_element, num_elements);
    __syncthreads();
  }
  /// Asks for the first inputs, which stage() waits for.
  __device__ void read(const S* x) { read(x, 0); }
  /// Behind a barrier after finish().
  __device__ void stage(const S* x) {
    for (std::uint32_t first = 0; first < kept_.num_inputs; first += kAtOnce * kRankRunThreads) {
      if (first > 0) read(x, first);
      each_input(first, [&](unsigned j, std::uint32_t i) { window_[i] = read_[j]; });
    }
  }
  /// Behind a barrier after stage(): the step of all rows. Gives how many threads, the first ones, have rows.
  template <bool kSquares>
  __device__ unsigned finish(const RankUpdate& update, const ExactScale& bound, bool is_first_step, const S*,
                             S* next_x, RunPieces<kSquares>& pieces) {
    const std::uint32_t num_rows = kept_.num_rows;
    RowAhead ahead;
    if (threadIdx.x < num_rows) ahead = ask_for(threadIdx.x, is_first_step);
    if (kept_.num_chunks > 0) {
      add_chunks(kept_.num_chunks);
      __syncthreads();
    }
    for (std::uint32_t row = threadIdx.x; row < num_rows; row += kRankRunThreads) {
      const RowAhead own = ahead;
      if (row + kRankRunThreads < num_rows) ahead = ask_for(row + kRankRunThreads, is_first_step);
      const std::uint64_t i = std::uint64_t{kept_.first_row} + row;
      const S now = new_rank(update, v_, i, sum_of(own.first, own.count));
      if (i < v_.places.count) next_x[v_.places.place_of(i)] = input_of(v_, now, own.scale);
      v_.score[i] = now;
      pieces.template add_row<kOfPair>(bound, static_cast<double>(now) - static_cast<double>(own.score),
                                       static_cast<double>(now), own.scale, v_.are_masses);
    }
    return min(num_rows, kRankRunThreads);
  }
  /// Leaves the scores in memory, where each step has done so.
  __device__ void leave(bool is_updated) const {
    if (is_updated) return;
    for (std::uint32_t row = threadIdx.x; row < kept_.num_rows; row += kRankRunThreads)
      v_.score[kept_.first_row + row] = v_.before[kept_.first_row + row];
  }

 private:
  static constexpr unsigned kAtOnce = 8;
  /// What a row needs of memory.
  struct RowAhead {
    S score, scale;
    std::uint32_t first, count;  ///< as in WindowRow
  };

  template <class T>
  __device__ static void copy(const T* from, std::uint32_t count, T* to) {
    for (std::uint32_t i = threadIdx.x; i < count; i += kRankRunThreads) to[i] = from[i];
  }
  template <class Use>
  __device__ void each_input(std::uint32_t first, const Use& use) const {
    const std::uint32_t size = kept_.num_inputs;
#pragma unroll
    for (unsigned j = 0; j < kAtOnce; ++j)
      if (const std::uint32_t i = first + j * kRankRunThreads + threadIdx.x; i < size) use(j, i);
  }
  __device__ void read(const S* x, std::uint32_t first) {
    each_input(first, [&](unsigned j, std::uint32_t i) { read_[j] = x[inputs_[i]]; });
  }
  __device__ RowAhead ask_for(std::uint32_t row, bool is_first_step) const {
    const std::uint64_t i = std::uint64_t{kept_.first_row} + row;
    const uint2 at = __ldcg(reinterpret_cast<const uint2*>(rows_) + i);
    return {__ldcg((is_first_step ? v_.before : v_.score) + i),
            v_.scale == nullptr ? S{1} : __ldcg(v_.scale + i), at.x, at.y};
  }
  /// What element k of the window adds to its row.
  __device__ double term(std::uint32_t k) const {
    return product<kWeighted>(values_, k, window_[places_[k]]);
  }
  __device__ double sum_of(std::uint32_t first, std::uint32_t count) const {
    if ((count & WindowRow::kInChunks) != 0) {
      double sum = 0;
#pragma unroll 1
      for (std::uint32_t k = 0; k < count - WindowRow::kInChunks; ++k) sum += chunk_sums_[first + k];
      return sum;
    }
    return short_row_sum([&](std::uint32_t k) { return term(first + k); }, count);
  }
  /// A group a chunk, the last threads first, as the first ones have rows.
  __device__ void add_chunks(std::uint32_t num_chunks) const {
    constexpr unsigned kGroups = kRankRunThreads / kSumLanes;
    const unsigned group = kGroups - 1 - threadIdx.x / kSumLanes, lane = threadIdx.x % kSumLanes;
    for (std::uint32_t first = 0; first < num_chunks; first += kGroups) {
      const bool is_there = first + group < num_chunks;
      const WindowChunk chunk = is_there ? chunks_[first + group] : WindowChunk{};
      const double sum = chunk_sum([&](std::uint32_t k) { return term(chunk.first + k); }, chunk.size, lane);
      if (lane == 0 && is_there) chunk_sums_[first + group] = sum;
    }
  }

  const RankVectors<S>& v_;
  Kept& kept_;
  double* const chunk_sums_;
  S* const window_;
  const WindowRow* rows_;
  WindowChunk* chunks_;
  std::uint16_t* places_;
  const VertexId* inputs_;
  const S* values_ = nullptr;
  S read_[kAtOnce];
};

}  // namespace tessera::cuda
