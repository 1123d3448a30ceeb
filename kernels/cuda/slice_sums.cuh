// What both passes of tile-messages do on a device (cuda_spmv_messages.cu, cuda_end_update.cu): a block keeps
// a window in shared memory while each of its warps goes through a run of slices, whose words stream through
// a ring of its own.
#pragma once
#include <type_traits>

#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/word_stream.cuh"

namespace tessera::cuda {

constexpr unsigned kWarp = 32;
TESSERA_HD constexpr unsigned ring_bytes(unsigned threads) { return threads / kWarp * kRingWords * 4; }

template <class S>
struct PassArgs {
  SlicePassView<S> pass;
  const WindowShare* shares;
  const std::uint32_t* first_of_block;
  const S* in;
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

/// What a warp has at hand for the slices of a window. Sums go to store(place, sum, first): `first` is the
/// offset of the row's first element in the window.
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
    // All are added before the first is stored: the compiler moves no load over a store that may go to the
    // window.
    std::conditional_t<kWords == 1 && !kWeighted, S, double> sums[kBlocks];
#pragma unroll
    for (unsigned b = 0; b < kBlocks; ++b) {
      const auto pair = [&](unsigned k) {
        return pair_of<kWeighted>(words[b][k], value_at(position + b * kStep + k * kWarp), window);
      };
      sums[b] = pair(0);
#pragma unroll
      for (unsigned k = 1; k < kWords; ++k) sums[b] += static_cast<double>(pair(k));
    }
#pragma unroll
    for (unsigned b = 0; b < kBlocks; ++b) store(out + b * kWarp + lane, sums[b], words[b][0] & 0xffffu);
  }

  /// One block of `height` rows, or one joint row, of any number of words; gives this lane's sum and the
  /// offset of its first element.
  __device__ double sum_of_block(std::uint32_t position, std::uint32_t height, std::uint32_t num_words,
                                 std::uint32_t& first) {
    constexpr unsigned kUnroll = 4;
    double sum = 0;
    std::uint32_t k = 0;
    for (; k + kUnroll <= num_words; k += kUnroll, position += kUnroll * height) {
      stream.need(position, kUnroll * height);
      if (lane >= height) continue;
      std::uint32_t words[kUnroll];
#pragma unroll
      for (unsigned j = 0; j < kUnroll; ++j) words[j] = stream.at(position + j * height + lane);
      if (k == 0) first = words[0] & 0xffffu;
#pragma unroll
      for (unsigned j = 0; j < kUnroll; ++j)
        sum +=
            static_cast<double>(pair_of<kWeighted>(words[j], value_at(position + j * height + lane), window));
    }
    if (k < num_words) stream.need(position, (num_words - k) * height);
    for (; k < num_words; ++k, position += height) {
      if (lane >= height) continue;
      const std::uint32_t word = stream.at(position + lane);
      if (k == 0) first = word & 0xffffu;
      sum += static_cast<double>(pair_of<kWeighted>(word, value_at(position + lane), window));
    }
    return sum;
  }

  __device__ void block(std::uint32_t position, std::uint32_t height, std::uint32_t num_words,
                        std::uint32_t out) {
    std::uint32_t first = 0;
    const double sum = sum_of_block(position, height, num_words, first);
    if (lane < height) store(out + lane, sum, first);
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
      store(message, static_cast<double>(__ldcs(value)) * static_cast<double>(x), offset);
    else
      store(message, x, offset);
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
      std::uint32_t first = 0;
      const double sum = add_lanes(sum_of_block(position, kWarp, s.num_words, first));
      if (lane == 0) store(s.first_out, sum, first);
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

/// Shared memory of a block of run_share: a ring a warp, and the window.
template <unsigned kThreads, class S>
std::size_t shared_bytes(std::uint32_t largest_window) {
  return ring_bytes(kThreads) + (largest_window + std::size_t{1}) * sizeof(S);
}
template <unsigned kThreads, class S>
__device__ inline S* shared_window(unsigned char* shared) {
  return reinterpret_cast<S*>(shared + ring_bytes(kThreads));
}

/// Share i of the shares [first_share, end_share) of a block, by all of its threads.
template <bool kWeighted, unsigned kThreads, class S, class Store>
__device__ void run_share(const PassArgs<S>& args, std::uint32_t i, std::uint32_t first_share,
                          std::uint32_t end_share, unsigned char* shared, const Store& store) {
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  auto* ring = reinterpret_cast<std::uint32_t*>(shared) + warp * kRingWords;
  S* window = shared_window<kThreads, S>(shared);
  const SlicePassView<S>& pass = args.pass;
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
  WarpWork<kWeighted, S, Store> work{stream, kWeighted ? pass.values + 2 * first_word : nullptr, window, lane,
                                     store};
  sum_slices(work, pass.slices, first, end, first_word, mine);
}

}  // namespace tessera::cuda
