// The tile-messages product on a device: two launches of one kernel. A block keeps a window in shared memory
// while each of its warps goes through a run of slices, whose words stream through a ring of its own.

#include <algorithm>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/shared_memory_limit.hpp"
#include "kernels/cuda/word_stream.cuh"

namespace tessera::cuda {
namespace {

constexpr unsigned kWarp = 32;
TESSERA_HD constexpr unsigned ring_bytes(unsigned threads) { return threads / kWarp * kRingWords * 4; }

template <class S>
struct PassArgs {
  SlicePassView<S> pass;
  const WindowShare* shares;
  const std::uint32_t* first_of_block;
  const S* in;
};

/// Where a pass puts its sums: messages as S, the product as double.
template <class Out>
struct Sums {
  Out* out;
  template <class T>
  __device__ void operator()(std::uint64_t place, T sum) const {
    __stcs(out + place, static_cast<Out>(sum));
  }
};

/// One vector of a product's block.
struct BlockSums {
  double* out;
  unsigned num_vectors;
  __device__ void operator()(std::uint64_t place, double sum) const { out[place * num_vectors] = sum; }
};

/// The sum over the lanes, in the order that the format asks for; every lane gets it.
__device__ inline double add_lanes(double sum) {
#pragma unroll
  for (unsigned distance = 1; distance < kWarp; distance *= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

template <unsigned kThreads, class S>
__device__ inline void start_part(const S* from, std::uint32_t size, S* shared) {
  constexpr unsigned kVector = 16 / sizeof(S);
  const bool aligned = reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  const std::uint32_t vectors = aligned ? size / kVector : 0;
  for (std::uint32_t i = threadIdx.x; i < vectors; i += kThreads)
    __pipeline_memcpy_async(shared + i * kVector, from + i * kVector, 16);
  for (std::uint32_t i = vectors * kVector + threadIdx.x; i < size; i += kThreads)
    __pipeline_memcpy_async(shared + i, from + i, sizeof(S));
}

/// Starts the copy of a share's window into shared memory, with the zero behind it.
template <unsigned kThreads, class S>
__device__ void start_window(const SlicePassView<S>& pass, const WindowShare& share, const S* in, S* shared) {
  if (pass.parts == nullptr) {
    start_part<kThreads>(in + share.first_in, share.size, shared);
  } else {
    S* to = shared;
    for (std::uint32_t i = 0; i < pass.num_parts; ++i) {
      const WindowPart& part = pass.parts[std::uint64_t{share.window} * pass.num_parts + i];
      start_part<kThreads>(in + part.first_in, part.size, to);
      to += (part.size + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
    }
  }
  if (threadIdx.x == 0) shared[share.size] = 0;
  __pipeline_commit();
}

__device__ inline void prefetch(const void* address) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(address));
}

/// The slice of each lane, of those from `base` on.
__device__ inline Slice load_slice(const Slice* slices, std::uint64_t base, std::uint64_t end,
                                   unsigned lane) {
  Slice mine{};
  if (base + lane < end) mine = slices[base + lane];
  if (lane % 8 == 0 && base + kWarp + lane < end) prefetch(slices + base + kWarp + lane);
  return mine;
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

/// The two products of a word, added. values: of the word's elements.
template <bool kWeighted, class S>
__device__ inline auto pair_of(std::uint32_t word, const S* values, const S* window) {
  const S low = window[word & 0xffffu], high = window[word >> 16];
  if constexpr (kWeighted)
    return static_cast<double>(__ldcs(values)) * static_cast<double>(low) +
           static_cast<double>(__ldcs(values + 1)) * static_cast<double>(high);
  else
    return low + high;
}

/// What a warp has at hand for the slices of a window.
template <bool kWeighted, class S, class Store>
struct WarpWork {
  WordStream& stream;
  const S* values;  // of the stream's first word
  const S* window;
  unsigned lane;
  const Store& store;

  /// kBlocks full blocks of 32 rows, kWords words each; `position` is that of the first block, `out` where
  /// its first sum goes.
  template <unsigned kWords, unsigned kBlocks>
  __device__ void full_blocks(std::uint32_t position, std::uint32_t out) {
    constexpr unsigned kStep = kWords * kWarp;
    stream.need(position, kBlocks * kStep);
    position += lane;
    std::uint32_t words[kBlocks][kWords];
#pragma unroll
    for (unsigned b = 0; b < kBlocks; ++b) {
#pragma unroll
      for (unsigned k = 0; k < kWords; ++k) words[b][k] = stream.at(position + b * kStep + k * kWarp);
    }
#pragma unroll
    for (unsigned b = 0; b < kBlocks; ++b) {
      const auto pair = [&](unsigned k) {
        return pair_of<kWeighted>(words[b][k], value_at(position + b * kStep + k * kWarp), window);
      };
      if constexpr (kWords == 1) {
        store(out + b * kWarp + lane, pair(0));
      } else {
        auto sum = static_cast<double>(pair(0));
#pragma unroll
        for (unsigned k = 1; k < kWords; ++k) sum += static_cast<double>(pair(k));
        store(out + b * kWarp + lane, sum);
      }
    }
  }

  /// One block of `height` rows, or one joint row, of any number of words; gives this lane's sum.
  __device__ double sum_of_block(std::uint32_t position, std::uint32_t height, std::uint32_t num_words) {
    constexpr unsigned kUnroll = 4;
    double sum = 0;
    std::uint32_t k = 0;
    for (; k + kUnroll <= num_words; k += kUnroll, position += kUnroll * height) {
      stream.need(position, kUnroll * height);
      if (lane >= height) continue;
      std::uint32_t words[kUnroll];
#pragma unroll
      for (unsigned j = 0; j < kUnroll; ++j) words[j] = stream.at(position + j * height + lane);
#pragma unroll
      for (unsigned j = 0; j < kUnroll; ++j)
        sum +=
            static_cast<double>(pair_of<kWeighted>(words[j], value_at(position + j * height + lane), window));
    }
    if (k < num_words) stream.need(position, (num_words - k) * height);
    for (; k < num_words; ++k, position += height)
      if (lane < height)
        sum += static_cast<double>(
            pair_of<kWeighted>(stream.at(position + lane), value_at(position + lane), window));
    return sum;
  }

  __device__ void block(std::uint32_t position, std::uint32_t height, std::uint32_t num_words,
                        std::uint32_t out) {
    const double sum = sum_of_block(position, height, num_words);
    if (lane < height) store(out + lane, sum);
  }

  template <unsigned kWords>
  __device__ void short_rows(const Slice& s, std::uint32_t position) {
    constexpr unsigned kBlocks = kPieceWords / kWarp / kWords;
    std::uint32_t row = 0;
    if constexpr (kBlocks > 0)
      for (; row + kBlocks * kWarp <= s.num_rows; row += kBlocks * kWarp)
        full_blocks<kWords, kBlocks>(position + row * kWords, s.first_out + row);
    for (; row < s.num_rows; row += kWarp)
      block(position + row * kWords, min(kWarp, s.num_rows - row), kWords, s.first_out + row);
  }

  /// The message of a row of one element.
  __device__ void single(std::uint32_t message, std::uint32_t offset, const S* value) {
    const S x = window[offset];
    if constexpr (kWeighted)
      store(message, static_cast<double>(__ldcs(value)) * static_cast<double>(x));
    else
      store(message, x);
  }

  /// Rows of one element; two share a word.
  __device__ void single_rows(const Slice& s, std::uint32_t position) {
    constexpr unsigned kBlocks = kPieceWords / kWarp, kRows = 2 * kWarp;
    std::uint32_t row = 0, message = s.first_out + lane;
    for (; row + kBlocks * kRows <= s.num_rows; row += kBlocks * kRows, message += kBlocks * kRows) {
      const std::uint32_t at = position + row / 2 + lane;
      stream.need(at - lane, kBlocks * kWarp);
      std::uint32_t words[kBlocks];
#pragma unroll
      for (unsigned b = 0; b < kBlocks; ++b) words[b] = stream.at(at + b * kWarp);
#pragma unroll
      for (unsigned b = 0; b < kBlocks; ++b) {
        single(message + b * kRows, words[b] & 0xffffu, value_at(at + b * kWarp));
        single(message + b * kRows + kWarp, words[b] >> 16, value_at(at + b * kWarp) + kWeighted);
      }
    }
    for (; row < s.num_rows; row += kRows, message += kRows) {
      const std::uint32_t left = min(kRows, s.num_rows - row), height = (left + 1) / 2;
      const std::uint32_t at = position + row / 2 + lane;
      stream.need(at - lane, height);
      if (lane >= height) continue;
      const std::uint32_t word = stream.at(at);
      single(message, word & 0xffffu, value_at(at));
      if (lane + height < left) single(message + height, word >> 16, value_at(at) + kWeighted);
    }
  }

  __device__ void slice(const Slice& s, std::uint32_t position) {
    if (is_single(s)) {
      single_rows(s, position);
    } else if (is_joint(s)) {
      const double sum = add_lanes(sum_of_block(position, kWarp, s.num_words));
      if (lane == 0) store(s.first_out, sum);
    } else if (s.num_words == 1) {
      short_rows<1>(s, position);
    } else if (s.num_words == 2) {
      short_rows<2>(s, position);
    } else if (s.num_words == 3) {
      short_rows<3>(s, position);
    } else {
      for (std::uint32_t row = 0; row < s.num_rows; row += kWarp)
        block(position + row * s.num_words, min(kWarp, s.num_rows - row), s.num_words, s.first_out + row);
    }
  }

 private:
  __device__ const S* value_at(std::uint32_t position) const {
    return kWeighted ? values + 2 * std::uint64_t{position} : nullptr;
  }
};

/// Slices [first, end) by one warp; `mine`: this lane's of the first 32.
template <bool kWeighted, class S, class Store>
__device__ void sum_slices(WarpWork<kWeighted, S, Store>& work, const Slice* slices, std::uint64_t first,
                           std::uint64_t end, std::uint64_t first_word, Slice mine) {
  for (std::uint64_t base = first; base < end; base += kWarp) {
    if (base > first) mine = load_slice(slices, base, end, work.lane);
    const auto count = static_cast<unsigned>(min(std::uint64_t{kWarp}, end - base));
    const auto position = static_cast<std::uint32_t>(mine.first_word - first_word);
    for (unsigned j = 0; j < count; ++j)
      work.slice(slice_of_lane(mine, j), __shfl_sync(0xffffffffu, position, j));
  }
}

template <bool kWeighted, unsigned kThreads, class S, class Store>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads) run_shares(PassArgs<S> args, Store store) {
  extern __shared__ __align__(16) unsigned char shared[];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  auto* ring = reinterpret_cast<std::uint32_t*>(shared) + warp * kRingWords;
  S* window = reinterpret_cast<S*>(shared + ring_bytes(kThreads));
  const SlicePassView<S>& pass = args.pass;
  const std::uint32_t first_share = args.first_of_block[blockIdx.x],
                      end_share = args.first_of_block[blockIdx.x + 1];
  let_next_kernel_begin();
  for (std::uint32_t i = first_share; i < end_share; ++i) {
    const WindowShare& share = args.shares[i];
    const std::uint64_t first = share.first_slice[warp], end = share.first_slice[warp + 1];
    const std::uint64_t first_word = share.first_word[warp];
    // What is this warp's own starts before it waits for the others.
    WordStream stream(pass.words + first_word, pass.words + share.first_word[warp + 1], ring, lane);
    const Slice mine = load_slice(pass.slices, first, end, lane);
    if (warp == 0 && i + 1 < end_share && lane * 128 < sizeof(WindowShare))
      prefetch(reinterpret_cast<const char*>(args.shares + i + 1) + lane * 128);
    if (i == first_share) wait_for_kernels_before();
    __syncthreads();  // the window before is no longer read
    start_window<kThreads>(pass, share, args.in, window);
    __pipeline_wait_prior(0);
    __syncthreads();
    WarpWork<kWeighted, S, Store> work{stream, kWeighted ? pass.values + 2 * first_word : nullptr, window,
                                       lane, store};
    sum_slices(work, pass.slices, first, end, first_word, mine);
  }
}

template <class S>
__global__ void take_kernel(const S* block, unsigned num_vectors, std::uint64_t size, S* vector) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step)
    vector[i] = block[i * num_vectors];
}

template <bool kWeighted, unsigned kThreads, class S, class Store>
void launch(const PassArgs<S>& args, const SliceShares& shares, const Store& store) {
  const std::size_t bytes = ring_bytes(kThreads) + (shares.largest_window + 1) * sizeof(S);
  allow_shared_bytes<run_shares<kWeighted, kThreads, S, Store>>(bytes);
  launch_early(run_shares<kWeighted, kThreads, S, Store>, shares.num_blocks, kThreads, bytes, args, store);
}

template <bool kWeighted, class S, class Store>
void run_pass(const SlicePassView<S>& pass, const SliceShares& shares, const S* in, const Store& store) {
  if (shares.num_blocks == 0) return;
  const PassArgs<S> args{pass, shares.shares, shares.first_of_block, in};
  if (threads_for<S>(shares.largest_window) == 1024)
    launch<kWeighted, 1024>(args, shares, store);
  else
    launch<kWeighted, 512>(args, shares, store);
}

}  // namespace

template <class S>
void send_messages(const SlicePassView<S>& tiles, const SliceShares& shares, const S* x, S* messages) {
  if (tiles.values != nullptr)
    run_pass<true>(tiles, shares, x, Sums<S>{messages});
  else
    run_pass<false>(tiles, shares, x, Sums<S>{messages});
}

template <class S>
void add_messages(const SlicePassView<S>& bins, const SliceShares& shares, const S* messages, double* product,
                  unsigned num_vectors, unsigned q) {
  if (num_vectors == 1)
    run_pass<false>(bins, shares, messages, Sums<double>{product});
  else
    run_pass<false>(bins, shares, messages, BlockSums{product + q, num_vectors});
}

template <class S>
void take_vector(const S* block, unsigned num_vectors, unsigned q, std::uint64_t size, S* vector) {
  constexpr std::uint64_t kTakeThreads = 256, kMostBlocks = 1u << 16;
  if (size == 0) return;
  const auto blocks = static_cast<unsigned>(std::min(ceil_div(size, kTakeThreads), kMostBlocks));
  take_kernel<<<blocks, kTakeThreads>>>(block + q, num_vectors, size, vector);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template void send_messages(const SlicePassView<float>&, const SliceShares&, const float*, float*);
template void send_messages(const SlicePassView<double>&, const SliceShares&, const double*, double*);
template void add_messages(const SlicePassView<float>&, const SliceShares&, const float*, double*, unsigned,
                           unsigned);
template void add_messages(const SlicePassView<double>&, const SliceShares&, const double*, double*, unsigned,
                           unsigned);
template void take_vector(const float*, unsigned, unsigned, std::uint64_t, float*);
template void take_vector(const double*, unsigned, unsigned, std::uint64_t, double*);

}  // namespace tessera::cuda
