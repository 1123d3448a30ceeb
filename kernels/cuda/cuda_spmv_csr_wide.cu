// The plain CSR product of many vectors of f32 on a device, and steps of walks. A warp goes through rows,
// four elements at a time: eight neighbouring threads have one of them, each 16 bytes of its inputs. So eight
// elements take two loads of a thread instead of eight. Those of the next eight are written before the
// additions of these; with 64 registers a thread the compiler puts them behind (docs/performance.md).
#include "kernels/block_padding.hpp"
#include "kernels/cuda/walk_step.cuh"

namespace tessera::cuda {
namespace {

/// Threads that share an element, the vectors of each, the elements of each among kSumLanes that follow each
/// other, and the vectors of a warp.
constexpr unsigned kLanes = 8, kVectors = kDeviceLoadBytes / sizeof(float),
                   kSteps = kSumLanes * kLanes / kSumWarpThreads, kAtOnce = kLanes * kVectors;
static_assert(kSteps == 2 && kVectors == 4, "take_sum() is written out for these");

/// Of one thread and kSumLanes elements.
struct Inputs {
  float of[kSteps][kVectors];
};

/// Asked for here: the compiler would put a load behind the branch that needs it, where it is waited for.
__device__ inline void read_now(const float* x, std::uint64_t offset, float (&to)[kVectors]) {
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(reinterpret_cast<const char*>(x) + offset));
}

/// Which vector of the warp's a lane gets the sum of.
__device__ inline unsigned vector_of(unsigned lane) {
  return lane % kLanes * kVectors + (lane / kLanes % 2) * 2 + lane / (2 * kLanes);
}

/// The accumulators of a thread: two of eight, for each of its vectors.
class Accumulators {
 public:
  __device__ explicit Accumulators(unsigned lane) : lane_(lane) {}

  /// Of `count` elements in a row; values: from this thread's first on.
  template <bool kWeighted>
  __device__ void add(std::uint32_t count, const float* values, const Inputs& inputs) {
    const unsigned first = lane_ / kLanes * kSteps;
#pragma unroll
    for (unsigned s = 0; s < kSteps; ++s) {
      if (first + s >= count) continue;
#pragma unroll
      for (unsigned v = 0; v < kVectors; ++v) of_[s][v] += product<kWeighted>(values, s, inputs.of[s][v]);
    }
  }
  /// The sum for the vector vector_of(lane), in the order of the format; all are 0 then. The warp calls
  /// together.
  __device__ double take_sum() {
    double parts[kVectors];
#pragma unroll
    for (unsigned v = 0; v < kVectors; ++v) {
      parts[v] = of_[0][v] + of_[1][v];
      of_[0][v] = of_[1][v] = 0;
    }
    // Two lanes add their parts of the same vectors, each for half of them; addition commutes.
#pragma unroll
    for (unsigned half = kVectors / 2; half > 0; half /= 2) {
      const unsigned distance = kAtOnce / 2 / half;
      const bool upper = (lane_ & distance) != 0;
#pragma unroll
      for (unsigned v = 0; v < half; ++v) {
        const double sent = upper ? parts[v] : parts[v + half];
        parts[v] = (upper ? parts[v + half] : parts[v]) + __shfl_xor_sync(0xffffffffu, sent, distance);
      }
    }
    return parts[0];
  }

 private:
  unsigned lane_;
  double of_[kSteps][kVectors] = {};
};

/// Sums of the rows of a run for the vectors whose inputs of the first column begin at x, at most num_left:
/// use(row, sum). kSumLanes elements at a time: those behind the end of a row are of the next one (or of the
/// padding behind the matrix), whose inputs are brought nearer, but not added.
template <bool kWeighted, class Use>
__device__ void sum_run(const CsrView<float>& a, const RowRun& run, const float* x, unsigned num_vectors,
                        unsigned num_left, unsigned lane, bool wait, const Use& use) {
  RunRows rows(a.row_offsets, run);
  const unsigned first = lane / kLanes * kSteps;
  const VertexId* columns = a.col_indices + rows.begin() + first;
  const float* values = a.values + (kWeighted ? rows.begin() + first : 0);
  const auto stride = static_cast<unsigned>(num_vectors * sizeof(float));
  // A thread that has no vector does as if it had the last.
  x += min(lane % kLanes * kVectors, num_left - kVectors);
  Inputs some, others;
  VertexId next[kSteps];
  const auto read_columns = [&] {
#pragma unroll
    for (unsigned s = 0; s < kSteps; ++s) next[s] = columns[s];
  };
  const auto read_inputs = [&](Inputs& inputs) {
#pragma unroll
    for (unsigned s = 0; s < kSteps; ++s) read_now(x, std::uint64_t{next[s]} * stride, inputs.of[s]);
  };
  Accumulators sums(lane);
  double sum = 0;
  std::uint32_t at = 0, chunk_end = min(rows.end(), kSumChunk), count = min(chunk_end, kSumLanes);
  read_columns();
  if (wait) wait_for_kernels_before();
  read_inputs(some);
  columns += count;
  read_columns();
  // Adds `inputs` while those of the next elements come to `ahead`; false behind the last row.
  const auto step = [&](const Inputs& inputs, Inputs& ahead) {
    const std::uint32_t end = at + count;
    const bool ends_chunk = end == chunk_end, ends_row = end == rows.end();
    read_inputs(ahead);
    if (ends_chunk) chunk_end = min(ends_row ? rows.next_end() : rows.end(), end + kSumChunk);
    const std::uint32_t next_count = min(chunk_end - end, kSumLanes);
    columns += next_count;
    read_columns();
    sums.template add<kWeighted>(count, values, inputs);
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

/// A warp a run, for 32 vectors.
struct WideRuns {
  static constexpr unsigned kLanes = kSumWarpThreads;
  __device__ static unsigned vector_of(unsigned lane) { return cuda::vector_of(lane); }
  template <bool kWeighted, class Use>
  __device__ static void sum(const CsrView<float>& a, const RowRun& run, const float* x, unsigned num_vectors,
                             unsigned first, unsigned lane, bool wait, const Use& use) {
    sum_run<kWeighted>(a, run, x + first, num_vectors, num_vectors - first, lane, wait, use);
  }
};
static_assert(WideRuns::kLanes == kAtOnce);

}  // namespace

bool is_wide(unsigned num_vectors) { return num_vectors > kFewVectors && num_vectors % kVectors == 0; }

void spmv_wide_block(const CsrView<float>& a, const RunView& deal, const float* x, double* y,
                     unsigned num_vectors) {
  const unsigned blocks = ceil_div(deal.num_runs, kSumThreads / WideRuns::kLanes);
  launch_early(
      a.values != nullptr ? multiply_runs<WideRuns, true, float> : multiply_runs<WideRuns, false, float>,
      blocks, kSumThreads, 0, a, deal, x, y, num_vectors);
}

void step_wide_walks(const CsrView<float>& a, const RunView& deal, const float* x,
                     const WalkStep<float>& step) {
  if (a.values != nullptr)
    launch_step<WideRuns, true>(a, deal, x, step);
  else
    launch_step<WideRuns, false>(a, deal, x, step);
}

}  // namespace tessera::cuda
