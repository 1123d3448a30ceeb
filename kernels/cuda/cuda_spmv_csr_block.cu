// The plain CSR product of several vectors on a device. A warp goes through rows; its accumulators are
// registers of its threads.
#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/early_launch.cuh"

namespace tessera::cuda {
namespace {

constexpr unsigned kThreads = 256, kWarp = 32;
constexpr unsigned kBlocksEach = 4;  // a step of RWR on R-MAT 18 takes 13 to 16 % longer with 3 or 5

/// The rows of a run, or its chunk; positions count from the run's first element.
class RunRows {
 public:
  __device__ RunRows(const EdgeOffset* row_offsets, const RowRun& run)
      : ends_(row_offsets + run.first_row + 1), begin_(row_offsets[run.first_row]), row_(run.first_row) {
    rows_left_ = run.end_row - run.first_row;
    EdgeOffset end = *ends_;
    if (run.cut_row != kNotCut) {
      begin_ += EdgeOffset{run.chunk} * kSumChunk;
      end = min(begin_ + kSumChunk, end);
    }
    end_ = static_cast<std::uint32_t>(end - begin_);
    read_next_end();
  }
  __device__ EdgeOffset begin() const { return begin_; }
  __device__ VertexId row() const { return row_; }
  __device__ std::uint32_t end() const { return end_; }            ///< of the row
  __device__ std::uint32_t next_end() const { return next_end_; }  ///< of the row after it, of the last else
  /// False behind the last row.
  __device__ bool advance() {
    if (--rows_left_ == 0) return false;
    ++row_;
    end_ = next_end_;
    read_next_end();
    return true;
  }

 private:
  /// While a row is worked on.
  __device__ void read_next_end() {
    next_end_ = rows_left_ > 1 ? static_cast<std::uint32_t>(*++ends_ - begin_) : end_;
  }

  const EdgeOffset* ends_;
  EdgeOffset begin_;
  VertexId row_, rows_left_;
  std::uint32_t end_, next_end_ = 0;
};

/// How the threads of a warp share the elements and vectors of a run: kLanes neighbours have one element,
/// each kVectors of its inputs, which lie side by side; the warp has kElements elements at a time.
template <unsigned kLanesOfElement, unsigned kVectorsOfThread>
struct Shape {
  static constexpr unsigned kLanes = kLanesOfElement, kVectors = kVectorsOfThread;
  static constexpr unsigned kElements = kWarp / kLanes < kSumLanes ? kWarp / kLanes : kSumLanes;
  static constexpr unsigned kSteps = kSumLanes / kElements;  ///< in which kSumLanes elements are read
  static_assert(kLanes * kElements == kWarp);
};

/// The inputs at so many bytes behind x, asked for here: the compiler would put the load of the last of eight
/// behind the branch that needs it, where it is waited for.
__device__ inline void read_now(const float* x, std::uint64_t offset, float (&to)[1]) {
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(to[0]) : "l"(reinterpret_cast<const char*>(x) + offset));
}
__device__ inline void read_now(const float* x, std::uint64_t offset, float (&to)[4]) {
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(reinterpret_cast<const char*>(x) + offset));
}
__device__ inline void read_now(const double* x, std::uint64_t offset, double (&to)[1]) {
  asm volatile("ld.global.f64 %0, [%1];" : "=d"(to[0]) : "l"(reinterpret_cast<const char*>(x) + offset));
}
__device__ inline void read_now(const double* x, std::uint64_t offset, double (&to)[2]) {
  asm volatile("ld.global.v2.f64 {%0, %1}, [%2];"
               : "=d"(to[0]), "=d"(to[1])
               : "l"(reinterpret_cast<const char*>(x) + offset));
}

template <class Shape, class S>
struct Inputs {
  S of[Shape::kSteps][Shape::kVectors];
};

/// The accumulators of a thread: those of the elements first, first + 1, ... of every eight, for each of its
/// vectors.
template <class Shape>
class Accumulators {
 public:
  __device__ explicit Accumulators(unsigned lane) : lane_(lane) {}

  /// Of `count` elements in a row.
  template <bool kWeighted, class S>
  __device__ void add(std::uint32_t count, const S* values,
                      const S (&inputs)[Shape::kSteps][Shape::kVectors]) {
    const unsigned first = lane_ / Shape::kLanes * Shape::kSteps;
#pragma unroll
    for (unsigned s = 0; s < Shape::kSteps; ++s) {
      if (first + s >= count) continue;
#pragma unroll
      for (unsigned v = 0; v < Shape::kVectors; ++v) of_[s][v] += product<kWeighted>(values, s, inputs[s][v]);
    }
  }
  /// The sum for the vector vector_of(lane), in the order of the format; all are 0 then. The warp calls
  /// together.
  __device__ double take_sum() {
    double parts[Shape::kVectors];
#pragma unroll
    for (unsigned v = 0; v < Shape::kVectors; ++v) {
#pragma unroll
      for (unsigned distance = 1; distance < Shape::kSteps; distance *= 2)
#pragma unroll
        for (unsigned s = 0; s < Shape::kSteps; s += 2 * distance) of_[s][v] += of_[s + distance][v];
      parts[v] = of_[0][v];
#pragma unroll
      for (unsigned s = 0; s < Shape::kSteps; ++s) of_[s][v] = 0;
    }
    // Two lanes add their parts of the same vectors, each for half of them; addition commutes.
#pragma unroll
    for (unsigned distance = Shape::kLanes, half = Shape::kVectors / 2; distance < kWarp;
         distance *= 2, half /= 2) {
      const bool upper = (lane_ & distance) != 0;
      if (half == 0) parts[0] += __shfl_xor_sync(0xffffffffu, parts[0], distance);
#pragma unroll
      for (unsigned v = 0; v < half; ++v) {
        const double sent = upper ? parts[v] : parts[v + half];
        parts[v] = (upper ? parts[v + half] : parts[v]) + __shfl_xor_sync(0xffffffffu, sent, distance);
      }
    }
    return parts[0];
  }
  /// Which vector of the warp's a lane gets the sum of; several lanes may get that of one.
  __device__ static unsigned vector_of(unsigned lane) {
    unsigned vector = lane % Shape::kLanes * Shape::kVectors;
#pragma unroll
    for (unsigned distance = Shape::kLanes, half = Shape::kVectors / 2; half > 0; distance *= 2, half /= 2)
      if ((lane & distance) != 0) vector += half;
    return vector;
  }

 private:
  unsigned lane_;
  double of_[Shape::kSteps][Shape::kVectors] = {};
};

/// Sums of the rows of a run for the vectors whose inputs of the first column begin at x, at most num_left:
/// use(row, sum). kSumLanes elements at a time: those behind the end of a row are of the next one (or of the
/// padding behind the matrix), whose inputs are brought nearer, but not added.
template <bool kWeighted, class Shape, class S, class Use>
__device__ void sum_run(const CsrView<S>& a, const RowRun& run, const S* x, unsigned num_vectors,
                        unsigned num_left, unsigned lane, const Use& use) {
  RunRows rows(a.row_offsets, run);
  const unsigned first = lane / Shape::kLanes * Shape::kSteps;
  const VertexId* columns = a.col_indices + rows.begin() + first;
  const S* values = a.values + (kWeighted ? rows.begin() + first : 0);
  const auto stride = static_cast<unsigned>(num_vectors * sizeof(S));
  // A thread that has no vector does as if it had the last.
  x += min(lane % Shape::kLanes * Shape::kVectors, num_left - Shape::kVectors);
  Inputs<Shape, S> some, others;
  VertexId next[Shape::kSteps];
  const auto read_columns = [&] {
#pragma unroll
    for (unsigned s = 0; s < Shape::kSteps; ++s) next[s] = columns[s];
  };
  const auto read_inputs = [&](Inputs<Shape, S>& inputs) {
#pragma unroll
    for (unsigned s = 0; s < Shape::kSteps; ++s) read_now(x, std::uint64_t{next[s]} * stride, inputs.of[s]);
  };
  Accumulators<Shape> sums(lane);
  double sum = 0;
  std::uint32_t at = 0, chunk_end = min(rows.end(), kSumChunk), count = min(chunk_end, kSumLanes);
  read_columns();
  wait_for_kernels_before();
  read_inputs(some);
  columns += count;
  read_columns();
  // Adds `inputs` while those of the next elements come to `ahead`; false behind the last row.
  const auto step = [&](const Inputs<Shape, S>& inputs, Inputs<Shape, S>& ahead) {
    const std::uint32_t end = at + count;
    const bool ends_chunk = end == chunk_end, ends_row = end == rows.end();
    read_inputs(ahead);
    if (ends_chunk) chunk_end = min(ends_row ? rows.next_end() : rows.end(), end + kSumChunk);
    const std::uint32_t next_count = min(chunk_end - end, kSumLanes);
    columns += next_count;
    read_columns();
    sums.template add<kWeighted>(count, values, inputs.of);
    if (kWeighted) values += count;
    at = end;
    count = next_count;
    if (!ends_chunk) return true;
    sum += sums.take_sum();
    if (!ends_row) return true;
    use(rows.row(), sum);
    sum = 0;
    return rows.advance();
  };
  while (step(some, others) && step(others, some)) {
  }
}

/// Whether this warp is the last of those of a row, all of whose sums can be read then.
__device__ bool is_last_chunk(unsigned* chunks_done, unsigned num_chunks, unsigned lane) {
  __threadfence();
  __syncwarp();
  unsigned before = 0;
  if (lane == 0) {
    before = atomicInc(chunks_done, num_chunks - 1);  // back to 0 with the last chunk
    __threadfence();
  }
  const bool is_last = __shfl_sync(0xffffffffu, before, 0) == num_chunks - 1;
  __syncwarp();
  return is_last;
}

__device__ inline double sum_of_chunks(const double* sums, std::uint32_t num_sums, unsigned num_vectors) {
  double sum = 0;
#pragma unroll 16
  for (std::uint32_t c = 0; c < num_sums; ++c) sum += __ldcg(sums + std::uint64_t{c} * num_vectors);
  return sum;
}

template <bool kWeighted, class Shape, class S>
__global__ void __launch_bounds__(kThreads, kBlocksEach)
    multiply_block(CsrView<S> a, RunView deal, const S* x, double* y, unsigned num_vectors) {
  let_next_kernel_begin();
  const unsigned warp = blockIdx.x * (kThreads / kWarp) + threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  if (warp >= deal.num_runs) return wait_for_kernels_before();
  const RowRun run = deal.runs[warp];
  const bool is_cut = run.cut_row != kNotCut;
  const ChunkSums cut = is_cut ? deal.cut_rows[run.cut_row] : ChunkSums{};
  double* chunk_sums = deal.chunk_sums + std::uint64_t{cut.first} * num_vectors;
  constexpr unsigned kAtOnce = Shape::kLanes * Shape::kVectors;
  for (unsigned first = 0; first < num_vectors; first += kAtOnce) {
    const unsigned q = first + Accumulators<Shape>::vector_of(lane);
    sum_run<kWeighted, Shape>(a, run, x + first, num_vectors, num_vectors - first, lane,
                              [&](VertexId row, double sum) {
                                double* sums = is_cut ? chunk_sums + std::uint64_t{run.chunk} * num_vectors
                                                      : y + std::uint64_t{row} * num_vectors;
                                if (q < num_vectors) __stcg(sums + q, sum);
                              });
  }
  if (!is_cut || !is_last_chunk(deal.chunks_done + run.cut_row, cut.count, lane)) return;
  for (unsigned q = lane; q < num_vectors; q += kWarp)
    y[std::uint64_t{run.first_row} * num_vectors + q] = sum_of_chunks(chunk_sums + q, cut.count, num_vectors);
}

template <bool kWeighted, unsigned kLanes, unsigned kVectors, class S>
void launch_shape(const CsrView<S>& a, const RunView& deal, const S* x, double* y, unsigned num_vectors) {
  launch_early(multiply_block<kWeighted, Shape<kLanes, kVectors>, S>,
               ceil_div(deal.num_runs, kThreads / kWarp), kThreads, 0, a, deal, x, y, num_vectors);
}

template <bool kWeighted, class S>
void launch(const CsrView<S>& a, const RunView& deal, const S* x, double* y, unsigned num_vectors) {
  constexpr unsigned kWide = kVectorsOfLoad<S>;
  if (num_vectors % kWide != 0) {
    if (num_vectors <= 8)
      launch_shape<kWeighted, 8, 1>(a, deal, x, y, num_vectors);
    else if (num_vectors <= 16)
      launch_shape<kWeighted, 16, 1>(a, deal, x, y, num_vectors);
    else
      launch_shape<kWeighted, 32, 1>(a, deal, x, y, num_vectors);
  } else if (num_vectors <= 4 * kWide) {
    launch_shape<kWeighted, 4, kWide>(a, deal, x, y, num_vectors);
  } else if (num_vectors <= 8 * kWide || kWide == 4) {
    launch_shape<kWeighted, 8, kWide>(a, deal, x, y, num_vectors);
  } else if constexpr (kWide == 2) {
    launch_shape<kWeighted, 16, kWide>(a, deal, x, y, num_vectors);
  }
}

}  // namespace

template <class S>
void spmv_block(const CsrView<S>& a, const RunView& deal, const S* x, double* y, unsigned num_vectors) {
  if (deal.num_runs == 0) return;
  if (a.values != nullptr)
    launch<true>(a, deal, x, y, num_vectors);
  else
    launch<false>(a, deal, x, y, num_vectors);
}

template void spmv_block(const CsrView<float>&, const RunView&, const float*, double*, unsigned);
template void spmv_block(const CsrView<double>&, const RunView&, const double*, double*, unsigned);

}  // namespace tessera::cuda
