// Ranges of keys that are too many for shared memory: dealt to bins by the next of their digits, until they
// are few enough (Stehle and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs", 2017).
#pragma once
#include "kernels/cuda/bin_dealer.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/range_sort.cuh"

namespace tessera::cuda {

/// `count` > kRangeKeys keys of a bucket from `first` on, equal but for digits that come next; those that
/// were dealt by are `low`.
struct LargeRange {
  std::uint32_t first, count, low, bucket;
};

inline constexpr unsigned kLargeDigitBits = 8, kLargeBins = 1u << kLargeDigitBits;
static_assert(kLargeBins <= UsualBins::kMostBins);
static_assert(kLargeDigitBits <= kRangeGroupBits, "groups of a range would span rows");

/// Keys by their bits from `shift` on.
struct KeysToBins {
  using Rest = void;
  using Shape = UsualBins;
  static constexpr bool kNeighboursAlike = false;
  const std::uint32_t* keys;
  std::uint32_t* dealt;
  unsigned shift, bits;

  __device__ std::uint32_t key(std::uint64_t i) const { return keys[i]; }
  __device__ std::uint32_t bin(std::uint32_t key) const { return key >> shift & ((1u << bits) - 1); }
  __device__ void store(std::uint32_t place, std::uint32_t key) const { dealt[place] = key; }
};

/// Lists that grow while a kernel runs.
struct RangeLists {
  KeyRange* ranges;
  LargeRange* large;
  std::uint32_t *num_ranges, *num_large;
};

/// A large range that was dealt to bins, cut into ranges of neighbouring bins in such a way that each can be
/// told by itself: a bin begins a range where it begins in another window of half the keys of a range than
/// the bin before, or where one of both has more keys than a window.
struct CutBins {
  std::uint32_t first;  ///< of the large range
  const std::uint32_t* ends;

  static constexpr std::uint32_t kWindow = kRangeKeys / 2;

  __device__ std::uint32_t begin(std::uint32_t bin) const { return bin == 0 ? first : ends[bin - 1]; }
  __device__ std::uint32_t size(std::uint32_t bin) const { return ends[bin] - begin(bin); }
  __device__ bool begins_range(std::uint32_t bin) const {
    return bin == 0 || (begin(bin) - first) / kWindow != (begin(bin - 1) - first) / kWindow ||
           size(bin) > kWindow || size(bin - 1) > kWindow;
  }
};

/// A block a large range, a thread a bin. ends: of the bins of range r, from r << bits on.
inline __global__ void __launch_bounds__(kLargeBins)
    cut_large_kernel(const LargeRange* given, unsigned shift, unsigned bits, bool in_spare,
                     const std::uint32_t* ends, RangeLists lists) {
  wait_for_kernels_before();
  __shared__ unsigned begins[kLargeBins / 32];  // a bit a bin
  const LargeRange large = given[blockIdx.x];
  const CutBins bins{large.first, ends + (std::uint64_t{blockIdx.x} << bits)};
  const std::uint32_t bin = threadIdx.x, num_bins = 1u << bits;
  const bool is_first = bin < num_bins && bins.begins_range(bin);
  const unsigned of_warp = __ballot_sync(~0u, is_first);
  if (threadIdx.x % 32 == 0) begins[threadIdx.x / 32] = of_warp;
  __syncthreads();
  if (!is_first) return;
  std::uint32_t word = bin / 32, behind = bin % 32 == 31 ? 0 : begins[word] & ~0u << (bin % 32 + 1);
  while (behind == 0 && ++word < kLargeBins / 32) behind = begins[word];
  const std::uint32_t next = behind == 0 ? num_bins : word * 32 + __ffs(static_cast<int>(behind)) - 1,
                      begin = bins.begin(bin), count = bins.begin(next) - begin,
                      low = large.low + (bin << shift);
  if (count > kRangeKeys && shift > 0) {
    lists.large[atomicAdd(lists.num_large, 1u)] = {begin, count, low, large.bucket};
    return;
  }
  const unsigned span_bits = shift + (next - bin > 1 ? 32 - __clz(static_cast<int>(next - bin - 1)) : 0);
  // Keys that are too many, though no digit is left, are all the same.
  for (std::uint64_t at = 0; at < count; at += kRangeKeys)
    lists.ranges[atomicAdd(lists.num_ranges, 1u)] = {
        static_cast<std::uint32_t>(begin + at),
        static_cast<std::uint32_t>(min(std::uint64_t{kRangeKeys}, count - at)),
        low,
        span_bits,
        large.bucket,
        in_spare,
        at > 0};
}

}  // namespace tessera::cuda
