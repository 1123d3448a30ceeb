// The tile-messages product on a device: two launches of one kernel. A block keeps a window in shared memory
// while each of its warps goes through a run of slices, whose words stream through a ring of its own.

#include <algorithm>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/word_stream.cuh"

namespace tessera::cuda {
namespace {

constexpr unsigned kThreads = 1024, kWarp = 32, kWarps = kThreads / kWarp;
static_assert(kWarps == kShareWarps);
constexpr unsigned kRingBytes = kWarps * kRingWords * 4;

template <class S>
struct PassArgs {
  SlicePassView<S> pass;
  const WindowShare* shares;
  const std::uint32_t* first_of_block;
  const S* in;
};

/// Where a pass puts its sums.
template <class S>
struct ToMessages {
  S* messages;
  __device__ void operator()(std::uint64_t out, double sum, unsigned q = 0, unsigned num_vectors = 1) const {
    __stcs(messages + out * num_vectors + q, static_cast<S>(sum));
  }
};
struct ToRows {
  const VertexId* row_ids;
  double* y;
  __device__ void operator()(std::uint64_t out, double sum, unsigned q = 0, unsigned num_vectors = 1) const {
    y[std::uint64_t{row_ids[out]} * num_vectors + q] = sum;
  }
};

/// The sum over the lanes, in the order that the format asks for; every lane gets it.
__device__ inline double add_lanes(double sum) {
#pragma unroll
  for (unsigned distance = 1; distance < kWarp; distance *= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

/// Starts the copy of a window into shared memory, with the zero behind it, as one group of the pipeline.
template <class S>
__device__ void start_window(const Window& window, const S* in, S* shared) {
  const S* from = in + window.first_in;
  constexpr unsigned kVector = 16 / sizeof(S);
  const bool aligned = reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  const std::uint32_t vectors = aligned ? window.size / kVector : 0;
  for (std::uint32_t i = threadIdx.x; i < vectors; i += kThreads)
    __pipeline_memcpy_async(shared + i * kVector, from + i * kVector, 16);
  for (std::uint32_t i = vectors * kVector + threadIdx.x; i < window.size; i += kThreads)
    __pipeline_memcpy_async(shared + i, from + i, sizeof(S));
  if (threadIdx.x == 0) shared[window.size] = 0;
  __pipeline_commit();
}

__device__ inline Slice slice_of_lane(const Slice& mine, unsigned lane) {
  Slice s;
  s.first_word = __shfl_sync(0xffffffffu, mine.first_word, lane);
  s.first_out = __shfl_sync(0xffffffffu, mine.first_out, lane);
  const std::uint32_t shape =
      __shfl_sync(0xffffffffu, mine.num_words | std::uint32_t{mine.num_rows} << 16, lane);
  s.num_words = static_cast<std::uint16_t>(shape);
  s.num_rows = static_cast<std::uint16_t>(shape >> 16);
  return s;
}

/// The even and the odd sum of a row.
struct TwoSums {
  double even = 0, odd = 0;
  template <bool kWeighted, class S>
  __device__ void add(std::uint32_t word, const S* values, const S* window) {
    const double low = static_cast<double>(window[word & 0xffffu]);
    const double high = static_cast<double>(window[word >> 16]);
    if constexpr (kWeighted) {
      even += static_cast<double>(__ldcs(values)) * low;
      odd += static_cast<double>(__ldcs(values + 1)) * high;
    } else {
      even += low;
      odd += high;
    }
  }
  __device__ double sum() const { return even + odd; }
};

/// What a warp has at hand for the slices of a window.
template <bool kWeighted, class S, class Store>
struct WarpWork {
  WordStream& stream;
  const S* values;  // of the stream's first word
  const S* window;
  unsigned lane;
  const Store& store;

  /// kBlocks full blocks of 32 rows, kWords words each; the first word is at `position`.
  template <unsigned kWords, unsigned kBlocks>
  __device__ void full_blocks(std::uint32_t position, std::uint32_t first_out) {
    stream.need(position, kBlocks * kWords * kWarp);
    std::uint32_t words[kBlocks * kWords];
#pragma unroll
    for (unsigned i = 0; i < kBlocks * kWords; ++i) words[i] = stream.at(position + i * kWarp + lane);
#pragma unroll
    for (unsigned b = 0; b < kBlocks; ++b) {
      TwoSums sums;
#pragma unroll
      for (unsigned k = 0; k < kWords; ++k)
        sums.add<kWeighted>(words[b * kWords + k], value_at(position + (b * kWords + k) * kWarp + lane),
                            window);
      store(first_out + b * kWarp + lane, sums.sum());
    }
  }

  /// `height` rows of any number of words; gives this lane's sums.
  __device__ TwoSums block(std::uint32_t position, std::uint32_t height, std::uint32_t num_words) {
    constexpr unsigned kUnroll = 4;
    TwoSums sums;
    std::uint32_t k = 0;
    for (; k + kUnroll <= num_words; k += kUnroll, position += kUnroll * height) {
      stream.need(position, kUnroll * height);
      if (lane >= height) continue;
      std::uint32_t words[kUnroll];
#pragma unroll
      for (unsigned j = 0; j < kUnroll; ++j) words[j] = stream.at(position + j * height + lane);
#pragma unroll
      for (unsigned j = 0; j < kUnroll; ++j)
        sums.add<kWeighted>(words[j], value_at(position + j * height + lane), window);
    }
    if (k < num_words) stream.need(position, (num_words - k) * height);
    for (; k < num_words; ++k, position += height)
      if (lane < height) sums.add<kWeighted>(stream.at(position + lane), value_at(position + lane), window);
    return sums;
  }

  template <unsigned kWords>
  __device__ void short_rows(const Slice& s, std::uint32_t position) {
    constexpr unsigned kBlocks = kWords == 1 ? 4 : kWords == 2 ? 2 : 1;
    std::uint32_t row = 0;
    for (; row + kBlocks * kWarp <= s.num_rows; row += kBlocks * kWarp)
      full_blocks<kWords, kBlocks>(position + row * kWords, s.first_out + row);
    for (; row < s.num_rows; row += kWarp) {
      const std::uint32_t height = min(kWarp, s.num_rows - row);
      const TwoSums sums = block(position + row * kWords, height, kWords);
      if (lane < height) store(s.first_out + row + lane, sums.sum());
    }
  }

  __device__ void slice(const Slice& s, std::uint32_t position) {
    if (is_joint(s)) {
      const double sum = add_lanes(block(position, kWarp, s.num_words).sum());
      if (lane == 0) store(s.first_out, sum);
    } else if (s.num_words == 1) {
      short_rows<1>(s, position);
    } else if (s.num_words == 2) {
      short_rows<2>(s, position);
    } else if (s.num_words == 3) {
      short_rows<3>(s, position);
    } else if (s.num_words == 4) {
      short_rows<4>(s, position);
    } else {
      const TwoSums sums = block(position, s.num_rows, s.num_words);
      if (lane < s.num_rows) store(s.first_out + lane, sums.sum());
    }
  }

 private:
  __device__ const S* value_at(std::uint32_t position) const {
    return kWeighted ? values + 2 * std::uint64_t{position} : nullptr;
  }
};

/// Slices [first, end) by one warp.
template <bool kWeighted, class S, class Store>
__device__ void sum_slices(WarpWork<kWeighted, S, Store>& work, const Slice* slices, std::uint64_t first,
                           std::uint64_t end, std::uint64_t first_word) {
  for (std::uint64_t base = first; base < end; base += kWarp) {
    const auto count = static_cast<unsigned>(min(std::uint64_t{kWarp}, end - base));
    Slice mine{};
    if (work.lane < count) mine = slices[base + work.lane];
    const auto position = static_cast<std::uint32_t>(mine.first_word - first_word);
    for (unsigned j = 0; j < count; ++j)
      work.slice(slice_of_lane(mine, j), __shfl_sync(0xffffffffu, position, j));
  }
}

template <bool kWeighted, class S, class Store>
__global__ void __launch_bounds__(kThreads, 1) run_shares(PassArgs<S> args, Store store) {
  extern __shared__ __align__(16) unsigned char shared[];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  auto* ring = reinterpret_cast<std::uint32_t*>(shared) + warp * kRingWords;
  S* window = reinterpret_cast<S*>(shared + kRingBytes);
  const SlicePassView<S>& pass = args.pass;
  const auto* words = reinterpret_cast<const std::uint32_t*>(pass.offsets);
  for (std::uint32_t i = args.first_of_block[blockIdx.x]; i < args.first_of_block[blockIdx.x + 1]; ++i) {
    const WindowShare& share = args.shares[i];
    const std::uint64_t first = share.first_slice[warp], end = share.first_slice[warp + 1];
    const std::uint64_t first_word = first < end ? pass.slices[first].first_word : 0;
    const std::uint64_t end_word =
        first < end ? pass.slices[end - 1].first_word + words_of(pass.slices[end - 1]) : 0;
    __syncthreads();  // the window before is no longer read
    start_window(pass.windows[share.window], args.in, window);
    WordStream stream(words + first_word, words + end_word, ring, lane);
    __pipeline_wait_prior(2);  // the window, not the words
    __syncthreads();
    WarpWork<kWeighted, S, Store> work{stream, kWeighted ? pass.values + 2 * first_word : nullptr, window,
                                       lane, store};
    sum_slices(work, pass.slices, first, end, first_word);
  }
}

/// Several vectors: neighbouring threads take neighbouring vectors of a row, whose inputs lie side by side.
template <bool kWeighted, class S, class Store>
__device__ void sum_slice_block(const SlicePassView<S>& pass, const Window& window, const Slice& s,
                                const S* in, unsigned num_vectors, unsigned lane, const Store& store) {
  const bool joint = is_joint(s);
  const unsigned num_lanes = joint ? kWarp : 1;
  const std::uint32_t num_items = (joint ? kWarp : s.num_rows) * num_vectors;
  // Whole warps go round together: joint rows are added across lanes.
  for (std::uint32_t item = lane; item - lane < num_items; item += kWarp) {
    const std::uint32_t unit = joint ? lane : item / num_vectors;
    const std::uint32_t q = joint ? item / kWarp : item % num_vectors;
    double sums[2] = {};
    if (item < num_items)
      for (std::uint32_t word = 0; word < s.num_words; ++word)
#pragma unroll
        for (std::uint32_t half = 0; half < 2; ++half) {
          const EdgeOffset at =
              slice_element(s, joint ? 0 : unit, 2 * (word * num_lanes + (joint ? unit : 0)) + half);
          const std::uint32_t offset = pass.offsets[at];
          const double x =
              offset == window.size ? 0.0 : static_cast<double>(in[std::uint64_t{offset} * num_vectors + q]);
          sums[half] += kWeighted ? static_cast<double>(pass.values[at]) * x : x;
        }
    double sum = sums[0] + sums[1];
    if (joint) sum = add_lanes(sum);
    if (item < num_items && (!joint || unit == 0))
      store(s.first_out + (joint ? 0 : unit), sum, q, num_vectors);
  }
}

template <bool kWeighted, class S, class Store>
__global__ void __launch_bounds__(kThreads)
    run_shares_block(PassArgs<S> args, Store store, unsigned num_vectors) {
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  for (std::uint32_t i = args.first_of_block[blockIdx.x]; i < args.first_of_block[blockIdx.x + 1]; ++i) {
    const WindowShare& share = args.shares[i];
    const Window window = args.pass.windows[share.window];
    for (std::uint64_t slice = share.first_slice[warp]; slice < share.first_slice[warp + 1]; ++slice)
      sum_slice_block<kWeighted>(args.pass, window, args.pass.slices[slice],
                                 args.in + window.first_in * num_vectors, num_vectors, lane, store);
  }
}

template <bool kWeighted, class S, class Store>
void run_pass(const SlicePassView<S>& pass, const SliceShares& shares, const S* in, const Store& store,
              unsigned num_vectors) {
  if (shares.num_blocks == 0) return;
  const PassArgs<S> args{pass, shares.shares, shares.first_of_block, in};
  if (num_vectors > 1) {
    run_shares_block<kWeighted><<<shares.num_blocks, kThreads>>>(args, store, num_vectors);
  } else {
    const auto bytes = static_cast<int>(kRingBytes + (shares.largest_window + 1) * sizeof(S));
    TESSERA_CUDA_CALL(cudaFuncSetAttribute(run_shares<kWeighted, S, Store>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    run_shares<kWeighted><<<shares.num_blocks, kThreads, static_cast<std::size_t>(bytes)>>>(args, store);
  }
  TESSERA_CUDA_CALL(cudaGetLastError());
}

}  // namespace

template <class S>
void spmv(const TileMessagesView<S>& a, const SliceShares& tile_shares, const SliceShares& bin_shares,
          const S* x, S* messages, double* y, unsigned num_vectors) {
  const ToMessages<S> to_messages{messages};
  const ToRows to_rows{a.row_ids, y};
  TESSERA_CUDA_CALL(cudaMemsetAsync(y, 0, a.num_rows * num_vectors * sizeof(double)));
  if (a.tiles.values != nullptr)
    run_pass<true>(a.tiles, tile_shares, x, to_messages, num_vectors);
  else
    run_pass<false>(a.tiles, tile_shares, x, to_messages, num_vectors);
  run_pass<false>(a.bins, bin_shares, messages, to_rows, num_vectors);
}

template void spmv(const TileMessagesView<float>&, const SliceShares&, const SliceShares&, const float*,
                   float*, double*, unsigned);
template void spmv(const TileMessagesView<double>&, const SliceShares&, const SliceShares&, const double*,
                   double*, double*, unsigned);

}  // namespace tessera::cuda
