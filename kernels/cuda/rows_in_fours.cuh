// Sums of rows for many f32 vectors, in the order of kernels/rows_in_fours.hpp. A warp goes through four
// rows, or four pieces of one, at a time: eight neighbouring threads have one of them, each 16 bytes of an
// element's inputs, so that a row's sum needs no other thread. What a warp knows of its run lies in shared
// memory: in registers it would take those of inputs on their way (docs/performance.md).
#pragma once
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/row_run_sums.cuh"
#include "kernels/rows_in_fours.hpp"

namespace tessera::cuda {

/// Threads that have a row, and the vectors of each.
inline constexpr unsigned kRowThreads = 8, kThreadVectors = kDeviceLoadBytes / sizeof(float);
static_assert(kSumWarpThreads == kFour * kRowThreads && kStepVectors == kRowThreads * kThreadVectors);
/// A group whose row is short reads columns as long as others of its warp have elements.
static_assert(kReadAhead >= kMostOfPiece);

/// A run as its warp works on it; pieces are rows, or pieces of first_row.
struct WarpRun {
  EdgeOffset begin;
  std::uint32_t ends[kSumWarpThreads + 1];  ///< from `begin` on; 0, then those of the pieces
  std::uint32_t num_pieces;
  VertexId first_row;
};

/// Of one thread and four elements: inputs of its vectors, and values.
template <bool kWeighted>
struct FourElements {
  float inputs[kFour][kThreadVectors];
  float values[kWeighted ? kFour : 1];
};

/// Asked for here: the compiler would put loads behind what does not need them. Untouched where not wanted.
__device__ inline void read_inputs(const char* x, bool wanted, float (&to)[kThreadVectors]) {
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %5, 0;\n\t@p ld.global.v4.f32 {%0, %1, %2, %3}, [%4];\n\t}"
      : "+f"(to[0]), "+f"(to[1]), "+f"(to[2]), "+f"(to[3])
      : "l"(x), "r"(static_cast<unsigned>(wanted)));
}
__device__ inline void read_inputs(const char* x, float (&to)[kThreadVectors]) {
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(x));
}

/// Goes through the elements of a run, four pieces at a time.
template <bool kWeighted>
class FourRows {
 public:
  /// x: this thread's inputs of column 0; stride: bytes from column to column. Opens the first four pieces;
  /// no input is read yet.
  __device__ FourRows(const CsrView<float>& a, const volatile WarpRun& run, const float* x, unsigned stride)
      : a_(a), run_(run), x_(reinterpret_cast<const char*>(x)), stride_(stride) {
    open();
  }
  /// Of this thread's group, among the pieces of the run; may be behind the last.
  __device__ unsigned piece() const { return opened_ - kFour + threadIdx.x % kSumWarpThreads / kRowThreads; }
  /// Adds up all fours of the open pieces but the last ones, and asks for those: to `some`.
  __device__ void go_to_last(FourElements<kWeighted>& some) {
    left_ -= static_cast<int>(kFour * num_full_);
    num_before_last_ -= num_full_;
#pragma unroll 1
    for (; num_full_ > 0; --num_full_) {
      for (unsigned j = 0; j < kFour; ++j) read_inputs(input(j), some.inputs[j]);
      advance(some);
      add(some);
    }
#pragma unroll 1
    for (; num_before_last_ > 0; --num_before_last_) {
      read_some(some);
      advance(some);
      add_some(some, left_);
      left_ -= static_cast<int>(kFour);
    }
    read_some(some);
    if (kWeighted)
      for (unsigned j = 0; j < kFour; ++j) some.values[j] = values_[j];
    num_last_ = left_;
  }
  /// False behind the last pieces.
  __device__ bool open_next() {
    if (opened_ >= run_.num_pieces) return false;
    open();
    return true;
  }
  /// Adds the last fours, of the pieces before open_next(); sums: of those pieces. From 0 on then.
  __device__ void take_sums(FourElements<kWeighted>& last, double (&sums)[kThreadVectors]) {
    add_some(last, num_last_);
    for (unsigned v = 0; v < kThreadVectors; ++v) {
      sums[v] = sums_[v];
      sums_[v] = 0;
    }
  }

 private:
  __device__ void open() {
    const unsigned num_pieces = run_.num_pieces,
                   piece = min(opened_ + threadIdx.x % kSumWarpThreads / kRowThreads, num_pieces);
    const std::uint32_t begin = run_.ends[piece],
                        length = piece < num_pieces ? run_.ends[piece + 1] - begin : 0;
    const EdgeOffset first = run_.begin + begin;
    columns_ = a_.col_indices + first;
    if (kWeighted) values_at_ = a_.values + first;
    left_ = static_cast<int>(length);
    num_before_last_ = (max(__reduce_max_sync(~0u, length), 1u) - 1) / kFour;
    num_full_ = min(num_before_last_, __reduce_min_sync(~0u, length) / kFour);
    opened_ += kFour;
    read_columns();
  }
  /// Of the next four elements. Behind a row they are of the next one, or of the padding behind the matrix.
  __device__ void read_columns() {
    for (unsigned j = 0; j < kFour; ++j) next_[j] = read_column(columns_ + j);
    if (kWeighted)
      for (unsigned j = 0; j < kFour; ++j) values_[j] = values_at_[j];
  }
  __device__ void advance(FourElements<kWeighted>& some) {
    if (kWeighted) {
      for (unsigned j = 0; j < kFour; ++j) some.values[j] = values_[j];
      values_at_ += kFour;
    }
    columns_ += kFour;
    read_columns();
  }
  __device__ const char* input(unsigned j) const { return x_ + std::uint64_t{next_[j]} * stride_; }
  __device__ void read_some(FourElements<kWeighted>& to) const {
    for (int j = 0; j < static_cast<int>(kFour); ++j)
      read_inputs(input(static_cast<unsigned>(j)), j < left_, to.inputs[j]);
  }
  __device__ void add(const FourElements<kWeighted>& some) {
#pragma unroll
    for (unsigned v = 0; v < kThreadVectors; ++v) {
      const auto of = [&](unsigned j) {
        if constexpr (kWeighted)
          return product<true>(some.values, j, some.inputs[j][v]);
        else
          return some.inputs[j][v];
      };
      sums_[v] += static_cast<double>((of(0) + of(1)) + (of(2) + of(3)));
    }
  }
  __device__ void add_some(FourElements<kWeighted>& some, int count) {
    if (count < static_cast<int>(kFour)) {
#pragma unroll
      for (int j = 0; j < static_cast<int>(kFour); ++j) {
        for (float& input : some.inputs[j]) input = j < count ? input : 0.0f;
        if (kWeighted) some.values[j] = j < count ? some.values[j] : 0.0f;
      }
    }
    add(some);
  }

  const CsrView<float>& a_;
  const volatile WarpRun& run_;
  const char* x_;
  unsigned stride_, opened_ = 0, num_full_ = 0, num_before_last_ = 0;
  int left_ = 0, num_last_ = 0;  // elements of this thread's piece
  const VertexId* columns_ = nullptr;
  const float* values_at_ = nullptr;
  VertexId next_[kFour];
  float values_[kWeighted ? kFour : 1];
  double sums_[kThreadVectors] = {};
};

/// Reads what a run is, for its warp, all of whose threads call; whether it is of pieces of one row.
__device__ inline bool open_run(const CsrView<float>& a, const RowRun& run, volatile WarpRun& open) {
  const unsigned lane = threadIdx.x % kSumWarpThreads, num_rows = run.end_row - run.first_row;
  const std::uint32_t most = most_of_piece(a.num_cols);
  EdgeOffset begin = a.row_offsets[run.first_row];
  const EdgeOffset end = a.row_offsets[run.first_row + 1 + min(lane, num_rows - 1)],
                   length = __shfl_sync(~0u, end, 0) - begin;
  const bool in_pieces = length > most;
  std::uint32_t own_end = static_cast<std::uint32_t>(end - begin);
  if (in_pieces) {
    const std::uint32_t piece = pieces_in_fours(length, most).length;
    const EdgeOffset at = min(std::uint64_t{run.chunk} * kFour * piece, length);
    own_end = static_cast<std::uint32_t>(min(EdgeOffset{lane + 1} * piece, length - at));
    begin += at;
  }
  __syncwarp();  // nobody needs the run before any more
  open.ends[lane + 1] = own_end;
  if (lane == 0) {
    open.ends[0] = 0;
    open.num_pieces = in_pieces ? kFour : num_rows;
    open.first_row = run.first_row;
    open.begin = begin;
  }
  __syncwarp();
  return in_pieces;
}

/// Of four pieces' sums, which the groups of a warp have, that of the run, in every group.
__device__ inline void add_pieces(double (&sums)[kThreadVectors]) {
  const unsigned lane = threadIdx.x % kRowThreads;
#pragma unroll
  for (double& own : sums) {
    double sum = __shfl_sync(~0u, own, lane);
    for (unsigned piece = 1; piece < kFour; ++piece) sum += __shfl_sync(~0u, own, lane + piece * kRowThreads);
    own = sum;
  }
}

/// Of num_vectors, the four that a thread has, from `first` on; none where that is behind the last.
struct OwnVectors {
  unsigned first, num_vectors;
  __device__ bool any() const { return first < num_vectors; }
  /// Those of a thread that has none are read as if it had the last.
  __device__ unsigned readable() const { return min(first, num_vectors - kThreadVectors); }
};

/// Of a row of several runs, whose sums lie in deal.chunk_sums: leaves this one's there; whether it was the
/// last to, and sums are those of the row then.
__device__ inline bool add_runs(const RunView& deal, const RowRun& run, const OwnVectors& own,
                                double (&sums)[kThreadVectors]) {
  const ChunkSums cut = deal.cut_rows[run.cut_row];
  double* const all = deal.chunk_sums + std::uint64_t{cut.first} * own.num_vectors + own.readable();
  if (threadIdx.x % kSumWarpThreads < kRowThreads && own.any())
    for (unsigned v = 0; v < kThreadVectors; ++v)
      __stcg(all + std::uint64_t{run.chunk} * own.num_vectors + v, sums[v]);
  unsigned* const runs_done = deal.chunks_done + blockIdx.y * deal.num_cut_rows + run.cut_row;
  if (!is_last_chunk<kSumWarpThreads>(runs_done, cut.count)) return false;
  for (double& sum : sums) sum = 0;
#pragma unroll 4
  for (std::uint32_t chunk = 0; chunk < cut.count; ++chunk)
    for (unsigned v = 0; v < kThreadVectors; ++v)
      sums[v] += __ldcg(all + std::uint64_t{chunk} * own.num_vectors + v);
  return true;
}

/// Sums of run `which`, by a warp of a block whose vectors are group blockIdx.y: ending.read(row) asks for
/// what an end needs of a row, ending.take(is_mine, row, sums, what was read) is called by the whole warp for
/// up to four rows, each for the threads of one group. wait: for the kernels before, before anything that
/// they write is read. Pieces have a way of their own: within that of rows they cost it registers.
template <bool kWeighted, class Ending>
__device__ void sum_run_in_fours(const CsrView<float>& a, const RunView& deal, unsigned which,
                                 volatile WarpRun& open, const float* x, const OwnVectors& own, bool wait,
                                 Ending& ending) {
  const bool in_pieces = open_run(a, deal.runs[which], open);
  FourRows<kWeighted> rows(a, open, x + own.readable(),
                           static_cast<unsigned>(own.num_vectors * sizeof(float)));
  if (wait) wait_for_kernels_before();
  FourElements<kWeighted> last;
  double sums[kThreadVectors];
  for (bool goes_on = !in_pieces; goes_on;) {
    rows.go_to_last(last);
    const unsigned piece = rows.piece(), num_pieces = open.num_pieces;
    const VertexId row = open.first_row + min(piece, num_pieces - 1);
    const auto of_row = ending.read(row);
    goes_on = rows.open_next();
    rows.take_sums(last, sums);
    ending.take(own.any() && piece < num_pieces, row, sums, of_row);
  }
  if (!in_pieces) return;
  rows.go_to_last(last);
  rows.take_sums(last, sums);
  add_pieces(sums);
  const RowRun run = deal.runs[which];
  if (run.cut_row != kNotCut && !add_runs(deal, run, own, sums)) return;
  ending.take(own.any() && threadIdx.x % kSumWarpThreads < kRowThreads, run.first_row, sums,
              ending.read(run.first_row));
}

}  // namespace tessera::cuda
