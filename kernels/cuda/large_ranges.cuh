// Ranges of keys that are too many for shared memory: dealt to bins by the next of their digits, until they
// are few enough (Stehle and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs", 2017).
#pragma once
#include <utility>

#include "kernels/cuda/bin_dealer.cuh"
#include "kernels/cuda/range_sort.cuh"

namespace tessera::cuda {

/// `count` > kRangeKeys keys of a bucket from `first` on, equal but for digits that come next; those that
/// were dealt by are `low`.
struct LargeRange {
  std::uint32_t first, count, low, bucket;
};

inline constexpr unsigned kLargeDigitBits = 8;

/// Keys by their bits from `shift` on.
struct KeysToBins {
  using Rest = void;
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

/// What a warp makes of a large range that was dealt to bins: ranges of as many bins as are few enough
/// together, and those bins that are large themselves. All lanes do the same, the first of them lists it.
struct RangeCut {
  LargeRange given;
  unsigned shift;
  bool in_spare;
  RangeLists lists;
  std::uint32_t begin, end, first_bin = 0;  ///< of the range that is open

  __device__ void list(const KeyRange& range) const {
    if (threadIdx.x % 32 == 0) lists.ranges[atomicAdd(lists.num_ranges, 1u)] = range;
  }
  __device__ void close(std::uint32_t end_bin) {
    const std::uint32_t num_bins = end_bin - first_bin;
    if (end > begin)
      list({begin, end - begin, given.low + (first_bin << shift),
            shift + (num_bins > 1 ? 32 - __clz(num_bins - 1) : 0), given.bucket, in_spare, false});
    begin = end;
    first_bin = end_bin;
  }
  __device__ void list_large(std::uint32_t bin, std::uint32_t bin_end) const {
    const std::uint32_t low = given.low + (bin << shift);
    if (shift > 0) {
      if (threadIdx.x % 32 == 0)
        lists.large[atomicAdd(lists.num_large, 1u)] = {begin, bin_end - begin, low, given.bucket};
      return;
    }
    // All of one key.
    for (std::uint32_t at = begin; at < bin_end; at += min(kRangeKeys, bin_end - at))
      list({at, min(kRangeKeys, bin_end - at), low, 0, given.bucket, in_spare, at > begin});
  }
  __device__ void add(std::uint32_t bin, std::uint32_t bin_end) {
    if (bin_end - begin > kRangeKeys) close(bin);
    if (bin_end - begin > kRangeKeys) {
      list_large(bin, bin_end);
      begin = bin_end;
      first_bin = bin + 1;
    }
    end = bin_end;
  }
};

inline constexpr unsigned kCutWarps = 4;

/// ends: of the bins of range r, from r << bits on.
inline __global__ void __launch_bounds__(32 * kCutWarps)
    cut_large_kernel(std::uint32_t count, const LargeRange* given, unsigned shift, unsigned bits,
                     bool in_spare, const std::uint32_t* ends, RangeLists lists) {
  const std::uint32_t range = blockIdx.x * kCutWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (range >= count) return;
  RangeCut cut{given[range], shift, in_spare, lists, given[range].first, given[range].first};
  for (std::uint32_t first = 0; first < 1u << bits; first += 32) {
    const std::uint32_t own = first + lane < 1u << bits ? ends[(range << bits) + first + lane] : 0;
    for (std::uint32_t bin = first; bin < min(first + 32, 1u << bits); ++bin)
      cut.add(bin, __shfl_sync(~0u, own, bin - first));
  }
  cut.close(1u << bits);
}

/// Sorts the buckets that sort_buckets() leaves out.
class LargeRangeSort {
 public:
  template <class T>
  using Vector = BuildVector<DeviceMemory, T>;

  /// keys, spare: of as many elements as there are keys.
  LargeRangeSort(const KeySort& all, std::uint32_t* keys, std::uint32_t* spare, std::uint64_t num_keys)
      : all_(all), keys_(keys), spare_(spare), num_keys_(num_keys), most_(num_keys / kRangeKeys + 1) {}

  /// ends: of buckets, which follow each other.
  void run(const std::uint32_t* ends) {
    Vector<LargeRange> large(most_), next(most_);
    auto counts = DeviceMemory::zeros<std::uint32_t>(2);
    LargeRange* list = large.data();
    std::uint32_t* num_large = counts.data() + 1;
    DeviceMemory::each(all_.digits.num_buckets(), [=] __device__(std::uint64_t b) {
      const std::uint32_t first = b == 0 ? 0 : ends[b - 1], count = ends[b] - first;
      if (count > kRangeKeys)
        list[atomicAdd(num_large, 1u)] = {first, count, 0, static_cast<std::uint32_t>(b)};
    });
    std::uint32_t count = DeviceMemory::read(num_large);
    // Of two ranges that follow each other one is more than half full, or a large one is between them.
    Vector<KeyRange> ranges(count == 0 ? 0 : 6 * most_);
    bool in_spare = false;
    for (unsigned shift = all_.digits.key_bits(); count > 0; in_spare = !in_spare) {
      const unsigned bits = std::min(kLargeDigitBits, shift);
      shift -= bits;
      const Vector<std::uint32_t> bin_ends = deal(large, count, shift, bits, in_spare);
      DeviceMemory::clear(counts.data(), counts.size() * sizeof(std::uint32_t));
      cut_large_kernel<<<ceil_div(count, kCutWarps), 32 * kCutWarps>>>(
          count, large.data(), shift, bits, !in_spare, bin_ends.data(),
          {ranges.data(), next.data(), counts.data(), num_large});
      TESSERA_CUDA_CALL(cudaGetLastError());
      const auto listed = DeviceMemory::to_host(counts.data(), 2);
      sort_ranges(all_, ranges.data(), listed[0]);
      count = listed[1];
      large.swap(next);
    }
  }

  // Parents of device lambdas must be public.
  /// Gives the ends of bins.
  Vector<std::uint32_t> deal(const Vector<LargeRange>& large, std::uint32_t count, unsigned shift,
                             unsigned bits, bool in_spare) const {
    Vector<Segment> segments(count);
    Segment* segment = segments.data();
    const LargeRange* range = large.data();
    DeviceMemory::each(count, [=] __device__(std::uint64_t r) {
      segment[r] = {range[r].first, range[r].first + range[r].count};
    });
    const KeysToBins elements{in_spare ? spare_ : keys_, in_spare ? keys_ : spare_, shift, bits};
    return deal_to_bins(segments, 1u << bits, num_keys_, elements);
  }

 private:
  const KeySort& all_;
  std::uint32_t *keys_, *spare_;
  std::uint64_t num_keys_, most_;
};

}  // namespace tessera::cuda
