// What a warp does with slices (kernels/tile_messages_view.hpp): their words come through its stream, their
// window lies in shared memory.
#pragma once
#include <type_traits>

#include "kernels/cuda/word_stream.cuh"
#include "kernels/tile_messages_view.hpp"

namespace tessera::cuda {

inline constexpr unsigned kWarp = 32;

/// The sum over the lanes, in the order that the format asks for; every lane gets it.
__device__ inline double add_lanes(double sum) {
#pragma unroll
  for (unsigned distance = 1; distance < kWarp; distance *= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

/// The same of two rows at once: lanes of even number get the first's, the others the second's.
__device__ inline double add_lanes(double first, double second, unsigned lane) {
  const bool is_odd = lane % 2 == 1;
  double sum = (is_odd ? second : first) + __shfl_xor_sync(0xffffffffu, is_odd ? first : second, 1);
#pragma unroll
  for (unsigned distance = 2; distance < kWarp; distance *= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

/// Words come through a WordStream as Store::kCacheUse says. Sums go to store(place, sum, first): `first` is
/// the offset of the row's first element in the window, if Store::kNeedsFirst, which says, too, that it may
/// go to the window there; else anything. In a block of fewer rows than lanes the other lanes do the last
/// row, too, and store nothing: that costs less than leaving them out of every load.
template <bool kWeighted, class S, class Store>
class WarpWork {
 public:
  using Stream = WordStream<Store::kCacheUse == CacheUse::only_messages_stay>;
  /// values: of the stream's first word, if weighted. window: its shared memory.
  __device__ WarpWork(Stream& stream, const S* values, SharedAddress window, unsigned lane,
                      const Store& store)
      : stream_(stream), values_(values), window_(window), lane_(lane), store_(store) {}

  /// Its words begin at `position` of the stream.
  __device__ void add(const Slice& s, std::uint32_t position) {
    if (is_single(s)) {
      single_rows(s, position);
    } else if (is_joint(s)) {
      joint_row(s, position);
    } else if (s.num_words == 1) {
      short_rows<1>(s, position);
    } else if (s.num_words == 2) {
      short_rows<2>(s, position);
    } else if (s.num_words == 3) {
      short_rows<3>(s, position);
    } else {
      rows(s, position);
    }
  }
  /// After the last slice.
  __device__ void finish() {
    if (Store::kNeedsFirst || !has_waiting_) return;
    const double sum = add_lanes(waiting_);
    if (lane_ == 0) store_(waiting_out_, sum, 0u);
  }

 private:
  using Place = typename Store::Place;
  /// Blocks of rows of one word, or of one element. Values come from global memory: more must be on their
  /// way.
  static constexpr unsigned kBlocksAtOnce = kWeighted ? 4 : 2;

  __device__ S input(std::uint32_t offset) const {
    S value;
    load_constant(window_ + offset * static_cast<std::uint32_t>(sizeof(S)), value);
    return value;
  }
  __device__ const S* values_at(std::uint32_t position) const {
    return kWeighted ? values_ + 2 * std::uint64_t{position} : nullptr;
  }
  /// The two products of the word at this position, added.
  __device__ auto pair(std::uint32_t word, std::uint32_t position) const {
    const S low = input(word & 0xffffu), high = input(word >> 16);
    if constexpr (kWeighted) {
      const S* values = values_at(position);
      return static_cast<double>(__ldcs(values)) * static_cast<double>(low) +
             static_cast<double>(__ldcs(values + 1)) * static_cast<double>(high);
    } else {
      return low + high;
    }
  }

  /// Before a store that may go to the window: idle lanes have read what the last row's overwrites, though
  /// nobody uses what they read. Other loads need not wait: one row alone reads what its sum overwrites.
  __device__ void wait_for_idle_lanes() const {
    if constexpr (Store::kNeedsFirst) __syncwarp();
  }

  /// kBlocks blocks of rows of kWords words each, `left` rows in all: the last block may have fewer than 32.
  template <unsigned kWords, unsigned kBlocks>
  __device__ void short_blocks(std::uint32_t position, std::uint32_t left, Place out) {
    constexpr unsigned kStep = kWords * kWarp, kBefore = (kBlocks - 1) * kWarp;
    stream_.need(position, min(left, kBlocks * kWarp) * kWords);
    const std::uint32_t last = min(left - kBefore, kWarp), of_last = min(lane_, last - 1);
    const auto place = [&](unsigned b, unsigned k) {
      return b + 1 < kBlocks ? position + lane_ + b * kStep + k * kWarp
                             : position + of_last + b * kStep + k * last;
    };
    std::uint32_t words[kBlocks][kWords];
#pragma unroll
    for (unsigned b = 0; b < kBlocks; ++b) {
#pragma unroll
      for (unsigned k = 0; k < kWords; ++k) words[b][k] = stream_.at(place(b, k));
    }
    std::conditional_t<kWords == 1 && !kWeighted, S, double> sums[kBlocks];
#pragma unroll
    for (unsigned b = 0; b < kBlocks; ++b) {
      sums[b] = pair(words[b][0], place(b, 0));
#pragma unroll
      for (unsigned k = 1; k < kWords; ++k) sums[b] += static_cast<double>(pair(words[b][k], place(b, k)));
    }
    wait_for_idle_lanes();
#pragma unroll
    for (unsigned b = 0; b < kBlocks; ++b)
      if (b + 1 < kBlocks || lane_ < last) store_(out + b * kWarp, sums[b], words[b][0] & 0xffffu);
  }
  /// Of at most kBlocks blocks as many as there are.
  template <unsigned kWords, unsigned kBlocks>
  __device__ void last_short_blocks(std::uint32_t position, std::uint32_t left, Place out) {
    if constexpr (kBlocks > 1)
      if (left <= (kBlocks - 1) * kWarp) return last_short_blocks<kWords, kBlocks - 1>(position, left, out);
    short_blocks<kWords, kBlocks>(position, left, out);
  }
  template <unsigned kWords>
  __device__ void short_rows(const Slice& s, std::uint32_t position) {
    constexpr unsigned kBlocks = kWords == 1 ? kBlocksAtOnce : kWords == 2 ? 2 : 1;
    Place out = s.first_out + lane_;
    std::uint32_t left = s.num_rows;
    for (; left > kBlocks * kWarp; left -= kBlocks * kWarp) {
      short_blocks<kWords, kBlocks>(position, left, out);
      position += kBlocks * kWarp * kWords;
      out += kBlocks * kWarp;
    }
    last_short_blocks<kWords, kBlocks>(position, left, out);
  }

  /// The first kWords words of this lane from `position` on, `step` apart, added as a tree; gives the first.
  template <unsigned kWords>
  __device__ std::uint32_t add_words(std::uint32_t position, std::uint32_t step, double& sum) {
    std::uint32_t words[kWords];
#pragma unroll
    for (unsigned j = 0; j < kWords; ++j) words[j] = stream_.at(position + j * step);
    double pairs[kWords];
#pragma unroll
    for (unsigned j = 0; j < kWords; ++j) pairs[j] = pair(words[j], position + j * step);
#pragma unroll
    for (unsigned distance = 1; distance < kWords; distance *= 2)
#pragma unroll
      for (unsigned j = 0; j + distance < kWords; j += 2 * distance) pairs[j] += pairs[j + distance];
    sum += pairs[0];
    return words[0];
  }

  /// One block of `height` rows, or one joint row, of any number of words; gives this lane's sum and the
  /// offset of its first element.
  __device__ double sum_of_block(std::uint32_t position, std::uint32_t height, std::uint32_t num_words,
                                 std::uint32_t& first) {
    const std::uint32_t own = min(lane_, height - 1);
    double sum = -0.0;  // what is added to it stays as it is
    bool is_first = true;
    const auto take_first = [&](std::uint32_t word) {
      if (is_first) first = word & 0xffffu;
      is_first = false;
    };
    static_assert(kTreeWords == 4);
    for (; num_words >= kTreeWords; num_words -= kTreeWords, position += kTreeWords * height) {
      stream_.need(position, kTreeWords * height);
      take_first(add_words<kTreeWords>(position + own, height, sum));
    }
    if (num_words == 0) return sum;
    stream_.need(position, num_words * height);
    position += own;
    if (num_words == 3)
      take_first(add_words<3>(position, height, sum));
    else if (num_words == 2)
      take_first(add_words<2>(position, height, sum));
    else
      take_first(add_words<1>(position, height, sum));
    return sum;
  }
  __device__ void rows(const Slice& s, std::uint32_t position) {
    Place out = s.first_out + lane_;
    for (std::uint32_t row = 0; row < s.num_rows; row += kWarp, out += kWarp) {
      const std::uint32_t height = min(kWarp, s.num_rows - row);
      std::uint32_t first;
      const double sum = sum_of_block(position + row * s.num_words, height, s.num_words, first);
      wait_for_idle_lanes();
      if (lane_ < height) store_(out, sum, first);
    }
  }
  /// Where nobody asks for its first element, a row waits for the next, so that the lanes of two are added at
  /// once.
  __device__ void joint_row(const Slice& s, std::uint32_t position) {
    std::uint32_t first;
    const double sum = sum_of_block(position, kWarp, s.num_words, first);
    if constexpr (Store::kNeedsFirst) {
      const double all = add_lanes(sum);
      if (lane_ == 0) store_(s.first_out, all, first);
    } else if (has_waiting_) {
      const double both = add_lanes(waiting_, sum, lane_);
      if (lane_ < 2) store_(lane_ == 0 ? waiting_out_ : s.first_out, both, 0u);
      has_waiting_ = false;
    } else {
      waiting_ = sum;
      waiting_out_ = s.first_out;
      has_waiting_ = true;
    }
  }

  /// kBlocks blocks of 64 rows of one element, two of which share a word; `left` rows in all.
  template <unsigned kBlocks>
  __device__ void single_blocks(std::uint32_t position, std::uint32_t left, Place out) {
    constexpr unsigned kBefore = (kBlocks - 1) * 2 * kWarp;
    const std::uint32_t rest = min(left - kBefore, 2 * kWarp), lows = (rest + 1) / 2, highs = rest / 2;
    stream_.need(position, (kBlocks - 1) * kWarp + lows);
    const auto place = [&](unsigned b) {
      return position + b * kWarp + (b + 1 < kBlocks ? lane_ : min(lane_, lows - 1));
    };
    std::uint32_t words[kBlocks];
#pragma unroll
    for (unsigned b = 0; b < kBlocks; ++b) words[b] = stream_.at(place(b));
    S low[kBlocks], high[kBlocks];
#pragma unroll
    for (unsigned b = 0; b < kBlocks; ++b) {
      low[b] = input(words[b] & 0xffffu);
      high[b] = input(words[b] >> 16);
    }
    wait_for_idle_lanes();
#pragma unroll
    for (unsigned b = 0; b < kBlocks; ++b) {
      const bool is_full = b + 1 < kBlocks;
      const S* values = values_at(place(b));
      const Place of_low = out + b * 2 * kWarp, of_high = of_low + (is_full ? kWarp : lows);
      if (is_full || lane_ < lows) store_single(of_low, low[b], words[b] & 0xffffu, values);
      if (is_full || lane_ < highs) store_single(of_high, high[b], words[b] >> 16, values + kWeighted);
    }
  }
  __device__ void store_single(Place out, S input, std::uint32_t offset, const S* value) {
    if constexpr (kWeighted)
      store_(out, static_cast<double>(__ldcs(value)) * static_cast<double>(input), offset);
    else
      store_(out, input, offset);
  }
  template <unsigned kBlocks>
  __device__ void last_single_blocks(std::uint32_t position, std::uint32_t left, Place out) {
    if constexpr (kBlocks > 1)
      if (left <= (kBlocks - 1) * 2 * kWarp) return last_single_blocks<kBlocks - 1>(position, left, out);
    single_blocks<kBlocks>(position, left, out);
  }
  __device__ void single_rows(const Slice& s, std::uint32_t position) {
    constexpr unsigned kBlocks = kBlocksAtOnce, kRows = kBlocks * 2 * kWarp;
    Place out = s.first_out + lane_;
    std::uint32_t left = s.num_rows;
    for (; left > kRows; left -= kRows) {
      single_blocks<kBlocks>(position, left, out);
      position += kBlocks * kWarp;
      out += kRows;
    }
    last_single_blocks<kBlocks>(position, left, out);
  }

  Stream& stream_;
  const S* values_;
  SharedAddress window_;
  unsigned lane_;
  const Store& store_;
  // A joint row whose lanes are still to be added.
  bool has_waiting_ = false;
  std::uint32_t waiting_out_ = 0;
  double waiting_ = 0;
};

}  // namespace tessera::cuda
