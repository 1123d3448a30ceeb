// All buckets of keys sorted: those of few keys as they are, in two halves, while the host hears how many
// others there are, and then how many ranges of them, which are sorted while it hears of the next.
#pragma once
#include <algorithm>
#include <utility>

#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/large_ranges.cuh"
#include "kernels/cuda/side_stream.cuh"

namespace tessera::cuda {

class BucketSort {
 public:
  template <class T>
  using Vector = BuildVector<DeviceMemory, T>;

  /// keys, spare: of as many elements as there are keys.
  BucketSort(const KeySort& all, std::uint32_t* keys, std::uint32_t* spare, std::uint64_t num_keys,
             SideStream<DeviceMemory>& side)
      : all_(all),
        side_(side),
        keys_(keys),
        spare_(spare),
        num_keys_(num_keys),
        most_(num_keys / kRangeKeys + 1) {}

  /// ends: of buckets, which follow each other.
  void run(const std::uint32_t* ends) {
    Vector<LargeRange> large(most_), next(most_);
    auto counts = DeviceMemory::zeros<std::uint32_t>(2);
    LargeRange* list = large.data();
    std::uint32_t* num_large = counts.data() + 1;
    const std::uint32_t num_buckets = all_.digits.num_buckets(), half = num_buckets / 2;
    DeviceMemory::each(num_buckets, [=] __device__(std::uint64_t b) {
      const std::uint32_t first = b == 0 ? 0 : ends[b - 1], count = ends[b] - first;
      if (count > kRangeKeys)
        list[atomicAdd(num_large, 1u)] = {first, count, 0, static_cast<std::uint32_t>(b)};
    });
    std::uint32_t count = side_.to_host(num_large, 1, [&] { sort_buckets(all_, ends, 0, half); })[0];
    // What a device sorts while the host hears of the next: the other half, then ranges of the digit before.
    Vector<KeyRange> ranges, next_ranges;
    std::uint32_t next_bucket = half, num_ranges = 0;
    const auto sort_listed = [&] {
      sort_buckets(all_, ends, std::exchange(next_bucket, num_buckets), num_buckets);
      sort_ranges(all_, ranges.data(), std::exchange(num_ranges, 0));
    };
    bool in_spare = false;
    for (unsigned shift = all_.digits.key_bits(); count > 0; in_spare = !in_spare) {
      const unsigned bits = std::min(kLargeDigitBits, shift);
      shift -= bits;
      // One in each window, and two more for each bin that is larger than one; or as many as keys that are
      // the same need.
      if (next_ranges.empty()) next_ranges = Vector<KeyRange>(8 * most_);
      const Vector<std::uint32_t> bin_ends = deal(large, count, shift, bits, in_spare);
      DeviceMemory::clear(counts.data(), counts.size() * sizeof(std::uint32_t));
      launch_early(cut_large_kernel, count, kLargeBins, 0, large.data(), shift, bits, !in_spare,
                   bin_ends.data(), RangeLists{next_ranges.data(), next.data(), counts.data(), num_large});
      const auto listed = side_.to_host(counts.data(), 2, sort_listed);
      num_ranges = listed[0];
      count = listed[1];
      ranges.swap(next_ranges);
      large.swap(next);
    }
    sort_listed();
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
    return deal_to_bins(Segments::listed(segments), 1u << bits, num_keys_, elements);
  }

 private:
  const KeySort& all_;
  SideStream<DeviceMemory>& side_;
  std::uint32_t *keys_, *spare_;
  std::uint64_t num_keys_, most_;
};

}  // namespace tessera::cuda
