// Ranges of keys that are few enough for shared memory, each sorted by a block. A key is a row, less the
// first of its bucket, above a column. Groups of keys, rows mostly, get as many bins as they have keys; what
// shares a bin is compared pair by pair. So an element costs two additions in shared memory and few
// comparisons, where a radix sort would rank it four times.
#pragma once
#include <cub/block/block_scan.cuh>

#include "kernels/base/types.hpp"
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/edge_digits.hpp"

namespace tessera::cuda {

inline constexpr unsigned kRangeThreads = 512, kRangeItems = 16;
inline constexpr std::uint32_t kRangeKeys = kRangeThreads * kRangeItems;  // at most
inline constexpr std::uint32_t kRangeGroupBits = 8;                       // at least, where keys have as many
inline constexpr std::uint32_t kMostRangeRows = 1u << EdgeDigits::kMostLowBits;
/// Where some bin has more, the range is sorted in a way that does not depend on its keys.
inline constexpr std::uint32_t kMostOfBin = 256;

/// Keys `low` to low + 2^span_bits - 1 of a bucket, at `first` and behind it; there they stay.
struct KeyRange {
  std::uint32_t first, count;  ///< count: 1 to kRangeKeys
  std::uint32_t low, span_bits;
  std::uint32_t bucket;
  bool in_spare;  ///< they are in the second of both arrays
  bool goes_on;   ///< with the key that the range before ends with
};

/// Where keys are, and what becomes of them.
struct KeySort {
  EdgeDigits digits;
  const std::uint32_t *keys, *spare;
  VertexId* cols;              ///< of sorted keys; may be `keys`
  std::uint32_t* repeated;     ///< a bit a key, set for those that are the same as the one before
  std::uint32_t* row_lengths;  ///< adds what is not repeated
};

/// In shared memory.
struct RangeMemory {
  using Scan = cub::BlockScan<std::uint32_t, kRangeThreads>;
  static constexpr std::uint32_t kMostBins = 2 * kRangeKeys;
  static_assert(kMostBins <= 65536, "a bin is told in 16 bits");
  std::uint32_t
      bins[kMostBins / 2 + 1];           ///< 16 bits each: keys; then keys in all before, one more at the end
  std::uint32_t keys[kRangeKeys];        ///< less the range's lowest
  std::uint32_t groups[kMostRangeRows];  ///< keys; then what bin_of() takes
  std::uint32_t repeated[kRangeKeys / 32 + 1];
  std::uint32_t repeated_of_row[kMostRangeRows];
  Scan::TempStorage scan;
  std::uint32_t num_bins;

  /// Of a group there are, from bit 5 on, its first bin less its lowest key, shifted, modulo 2^27; below, by
  /// how much keys are shifted.
  __device__ std::uint32_t bin_of(std::uint32_t key, std::uint32_t group_shift) const {
    const std::uint32_t group = groups[key >> group_shift];
    return ((group >> 5) + (key >> (group & 31u))) & 65535u;
  }
  __device__ std::uint32_t first_of(std::uint32_t bin) const {
    return reinterpret_cast<const std::uint16_t*>(bins)[bin];
  }
};

/// Ascending; all comparisons are known beforehand (Batcher, 1968). What is beyond `count` would be largest.
__device__ inline void sort_by_network(std::uint32_t* keys, std::uint32_t count) {
  std::uint32_t size = 1;
  while (size < count) size *= 2;
  for (std::uint32_t merged = 2; merged <= size; merged *= 2)
    for (std::uint32_t step = merged / 2; step > 0; step /= 2) {
      for (std::uint32_t i = threadIdx.x; i < size / 2; i += kRangeThreads) {
        const std::uint32_t begin = i / step * 2 * step, lower = begin + i % step,
                            upper = step == merged / 2 ? begin + merged - 1 - i % step : lower + step;
        if (upper >= count) continue;
        const std::uint32_t a = keys[lower], b = keys[upper];
        if (a > b) {
          keys[lower] = b;
          keys[upper] = a;
        }
      }
      __syncthreads();
    }
}

/// A block's sort of a range.
class RangeSort {
 public:
  __device__ RangeSort(RangeMemory& own, const KeySort& all, const KeyRange& range)
      : own_(own), all_(all), range_(range) {
    const unsigned id_bits = all.digits.id_bits;
    // No group is of two rows: it is no wider than one (group_shift_ <= id_bits), and `low` is a multiple of
    // 2^group_shift_, as ranges are dealt by no more bits at a time than groups have (kLargeDigitBits).
    group_bits_ =
        min(range.span_bits, max(kRangeGroupBits, range.span_bits > id_bits ? range.span_bits - id_bits : 0));
    group_shift_ = range.span_bits - group_bits_;
    first_row_ = range.low >> id_bits;
    last_row_ =
        static_cast<std::uint32_t>((range.low + ((std::uint64_t{1} << range.span_bits) - 1)) >> id_bits);
  }

  __device__ __forceinline__ void run() {
    std::uint32_t keys[kRangeItems], places[kRangeItems];
    load(keys);
    spread_bins();
    // Of each key its bin, and how many keys of the bin were there before.
    each_of_thread([&](unsigned i, std::uint32_t) {
      const std::uint32_t bin = own_.bin_of(keys[i], group_shift_), shift = bin % 2 * 16;
      places[i] = bin << 16 | (atomicAdd(own_.bins + bin / 2, 1u << shift) >> shift & 65535u);
    });
    const bool many = sum_up_bins();
    each_of_thread([&](unsigned i, std::uint32_t) {
      own_.keys[own_.first_of(places[i] >> 16) + (places[i] & 65535u)] = keys[i];
    });
    __syncthreads();
    const bool some_repeated = many ? take_by_network() : take_by_bins();
    if (__syncthreads_or(some_repeated)) tell_repeated();
  }

 private:
  /// body(i, position) of a thread's i-th key.
  template <class Body>
  __device__ __forceinline__ void each_of_thread(const Body& body) const {
#pragma unroll
    for (unsigned i = 0; i < kRangeItems; ++i) {
      if (i * kRangeThreads >= range_.count) break;
      const std::uint32_t at = i * kRangeThreads + threadIdx.x;
      if (at < range_.count) body(i, at);
    }
  }
  template <class Body>
  __device__ static void each_until(std::uint32_t end, const Body& body) {
    for (std::uint32_t i = threadIdx.x; i < end; i += kRangeThreads) body(i);
  }
  __device__ std::uint32_t row_of(std::uint32_t key) const {
    return ((range_.low + key) >> all_.digits.id_bits) - first_row_;
  }

  /// Of the range's first row and those behind it.
  __device__ std::uint32_t* row_lengths() const {
    return all_.row_lengths + (range_.bucket << all_.digits.low_bits) + first_row_;
  }

  /// groups: keys in each.
  __device__ __forceinline__ void load(std::uint32_t (&keys)[kRangeItems]) {
    const std::uint32_t* given = (range_.in_spare ? all_.spare : all_.keys) + range_.first;
    each_of_thread([&](unsigned i, std::uint32_t at) { keys[i] = given[at] - range_.low; });
    each_until(1u << group_bits_, [&](std::uint32_t i) { own_.groups[i] = 0; });
    each_until(range_.count / 32 + 1, [&](std::uint32_t i) { own_.repeated[i] = 0; });
    each_until(last_row_ - first_row_ + 1, [&](std::uint32_t i) { own_.repeated_of_row[i] = 0; });
    __syncthreads();
    each_of_thread(
        [&](unsigned i, std::uint32_t) { atomicAdd(own_.groups + (keys[i] >> group_shift_), 1u); });
    __syncthreads();
  }

  /// Bins of a group of n keys: the power of two from n on, so that all have less than 2 n. Rows hear how
  /// many keys they have: no group is of two.
  __device__ void spread_bins() {
    constexpr std::uint32_t kMostEach = kMostRangeRows / kRangeThreads;
    const std::uint32_t num_groups = 1u << group_bits_;
    std::uint32_t bits[kMostEach], bins[kMostEach], num_bins = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kMostEach; ++i) {
      const std::uint32_t group = threadIdx.x * kMostEach + i,
                          count = group < num_groups ? own_.groups[group] : 0;
      bits[i] = min(count > 1 ? 32 - __clz(count - 1) : 0, group_shift_);
      bins[i] = count > 0 ? 1u << bits[i] : 0;
      if (count > 0 && first_row_ != last_row_)
        atomicAdd(row_lengths() + row_of(group << group_shift_), count);
    }
    if (threadIdx.x == 0 && first_row_ == last_row_) atomicAdd(row_lengths(), range_.count);
    RangeMemory::Scan(own_.scan).ExclusiveSum(bins, bins, num_bins);
#pragma unroll
    for (std::uint32_t i = 0; i < kMostEach; ++i) {
      const std::uint32_t group = threadIdx.x * kMostEach + i;
      if (group < num_groups)
        own_.groups[group] = (bins[i] - (group << bits[i])) << 5 | (group_shift_ - bits[i]);
    }
    if (threadIdx.x == 0) own_.num_bins = num_bins;
    each_until(num_bins / 2 + 1, [&](std::uint32_t i) { own_.bins[i] = 0; });
    __syncthreads();
  }

  /// bins: keys in all before each. Gives whether some bin has many.
  __device__ bool sum_up_bins() {
    __syncthreads();
    // Words of a thread: an odd number, so that threads meet in no bank.
    const std::uint32_t num_words = own_.num_bins / 2 + 1,
                        each = (num_words + kRangeThreads - 1) / kRangeThreads | 1,
                        begin = min(threadIdx.x * each, num_words), end = min(begin + each, num_words);
    std::uint32_t sum = 0, most = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint32_t lower = own_.bins[i] & 65535u, upper = own_.bins[i] >> 16;
      sum += lower + upper;
      most = max(most, max(lower, upper));
    }
    RangeMemory::Scan(own_.scan).ExclusiveSum(sum, sum);
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint32_t lower = own_.bins[i] & 65535u, upper = own_.bins[i] >> 16;
      own_.bins[i] = sum | (sum + lower) << 16;
      sum += lower + upper;
    }
    return __syncthreads_or(most > kMostOfBin);
  }

  __device__ void take(std::uint32_t place, std::uint32_t key, bool is_repeated) const {
    const std::uint32_t column_mask = (1u << all_.digits.id_bits) - 1;
    all_.cols[range_.first + place] = (range_.low + key) & column_mask;
    if (!is_repeated) return;
    atomicOr(own_.repeated + place / 32, 1u << place % 32);
    atomicAdd(own_.repeated_of_row + row_of(key), 1u);
  }

  /// Equal keys keep the order in which they lie. Gives whether the thread has some that is repeated.
  __device__ __forceinline__ bool take_by_bins() const {
    bool some_repeated = false;
    each_of_thread([&](unsigned, std::uint32_t at) {
      const std::uint32_t key = own_.keys[at], bin = own_.bin_of(key, group_shift_),
                          end = own_.first_of(bin + 1);
      std::uint32_t i = own_.first_of(bin), place = i;
      bool is_repeated = false;
      for (; i < end; ++i) {
        const std::uint32_t other = own_.keys[i];
        const bool same_before = (other == key) & (i < at);
        is_repeated |= same_before;
        place += (other < key) | same_before;
      }
      is_repeated |= (place == 0) & range_.goes_on;
      some_repeated |= is_repeated;
      take(place, key, is_repeated);
    });
    return some_repeated;
  }

  __device__ bool take_by_network() const {
    sort_by_network(own_.keys, range_.count);
    bool some_repeated = false;
    each_until(range_.count, [&](std::uint32_t at) {
      const std::uint32_t key = own_.keys[at];
      const bool is_repeated = at == 0 ? range_.goes_on : own_.keys[at - 1] == key;
      some_repeated |= is_repeated;
      take(at, key, is_repeated);
    });
    return some_repeated;
  }

  __device__ void tell_repeated() const {
    each_until(range_.count / 32 + 1, [&](std::uint32_t i) {
      const std::uint32_t bits = own_.repeated[i], at = range_.first + i * 32, shift = at % 32;
      if (bits == 0) return;
      atomicOr(all_.repeated + at / 32, bits << shift);
      if (shift > 0 && bits >> (32 - shift) > 0) atomicOr(all_.repeated + at / 32 + 1, bits >> (32 - shift));
    });
    each_until(last_row_ - first_row_ + 1, [&](std::uint32_t row) {
      if (own_.repeated_of_row[row] > 0) atomicSub(row_lengths() + row, own_.repeated_of_row[row]);
    });
  }

  RangeMemory& own_;
  const KeySort& all_;
  const KeyRange& range_;
  unsigned group_bits_, group_shift_;
  std::uint32_t first_row_, last_row_;  // of the bucket's
};

/// ends: of buckets, which follow each other. A block a bucket, from first_bucket on. Those of more than
/// kRangeKeys keys are left out.
inline __global__ void __launch_bounds__(kRangeThreads, 2)
    sort_buckets_kernel(KeySort all, const std::uint32_t* ends, std::uint32_t first_bucket) {
  wait_for_kernels_before();
  extern __shared__ __align__(16) unsigned char range_memory[];
  const std::uint32_t bucket = first_bucket + blockIdx.x, first = bucket == 0 ? 0 : ends[bucket - 1],
                      count = ends[bucket] - first;
  if (count == 0 || count > kRangeKeys) return;
  const KeyRange range{first, count, 0, all.digits.key_bits(), bucket, false, false};
  RangeSort(*reinterpret_cast<RangeMemory*>(range_memory), all, range).run();
}

inline __global__ void __launch_bounds__(kRangeThreads, 2)
    sort_ranges_kernel(KeySort all, const KeyRange* ranges) {
  wait_for_kernels_before();
  extern __shared__ __align__(16) unsigned char range_memory[];
  const KeyRange range = ranges[blockIdx.x];
  RangeSort(*reinterpret_cast<RangeMemory*>(range_memory), all, range).run();
}

/// Buckets `first` to `end`, but for larger ones.
inline void sort_buckets(const KeySort& all, const std::uint32_t* ends, std::uint32_t first,
                         std::uint32_t end) {
  if (first == end) return;
  allow_shared_bytes<sort_buckets_kernel>(sizeof(RangeMemory));
  launch_early(sort_buckets_kernel, end - first, kRangeThreads, sizeof(RangeMemory), all, ends, first);
}
inline void sort_ranges(const KeySort& all, const KeyRange* ranges, std::uint32_t count) {
  if (count == 0) return;
  allow_shared_bytes<sort_ranges_kernel>(sizeof(RangeMemory));
  launch_early(sort_ranges_kernel, count, kRangeThreads, sizeof(RangeMemory), all, ranges);
}

}  // namespace tessera::cuda
