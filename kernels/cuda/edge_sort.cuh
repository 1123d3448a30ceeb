// Edges in any order, some of them repeated, to compressed sparse rows, on a device: dealt by rows to
// buckets, which are sorted in shared memory. A radix sort of both ids reads and writes each edge once for
// every eight bits of them.
#pragma once
#include <utility>

#include "kernels/cuda/bin_dealer.cuh"
#include "kernels/cuda/bucket_sort.cuh"
#include "kernels/cuda/edge_digits.hpp"
#include "kernels/cuda/key_counts.cuh"
#include "kernels/cuda/running_sums.cuh"
#include "kernels/cuda/shared_memory_limit.hpp"
#include "kernels/cuda/unmarked_elements.cuh"

namespace tessera::cuda {

/// Edges by the upper bits of their rows.
struct EdgesByRow {
  using Rest = VertexId;
  static constexpr bool kNeighboursAlike = false;
  const VertexId *rows, *cols;
  EdgeDigits digits;

  __device__ VertexId key(std::uint64_t i) const { return __ldcs(rows + i); }
  __device__ VertexId rest(std::uint64_t i) const { return __ldcs(cols + i); }
};

/// To the next digit of each and a key of what is left.
struct RowsToBins : EdgesByRow {
  using Shape = UsualBins;
  std::uint16_t* seconds;
  std::uint32_t* keys;

  __device__ std::uint32_t bin(VertexId row) const { return row >> (digits.second_bits + digits.low_bits); }
  __device__ void store(std::uint32_t place, VertexId row, VertexId col) const {
    seconds[place] = static_cast<std::uint16_t>(row >> digits.low_bits & ((1u << digits.second_bits) - 1));
    keys[place] = digits.key(row, col);
  }
};

/// To a key of what is left.
struct RowsToBuckets : EdgesByRow {
  using Shape = ManyBins;
  std::uint32_t* keys;

  __device__ std::uint32_t bin(VertexId row) const { return row >> digits.low_bits; }
  __device__ void store(std::uint32_t place, VertexId row, VertexId col) const {
    keys[place] = digits.key(row, col);
  }
};

/// Keys by the digit beside them.
struct SecondsToBins {
  using Rest = std::uint32_t;
  using Shape = UsualBins;
  static constexpr bool kNeighboursAlike = false;
  const std::uint16_t* seconds;
  const std::uint32_t* keys;
  std::uint32_t* dealt;

  __device__ std::uint32_t key(std::uint64_t i) const { return seconds[i]; }
  __device__ std::uint32_t rest(std::uint64_t i) const { return keys[i]; }
  __device__ std::uint32_t bin(std::uint32_t second) const { return second; }
  __device__ void store(std::uint32_t place, std::uint32_t, std::uint32_t key) const { dealt[place] = key; }
};

static_assert((1u << kMostRangeBits) <= RangeCounts::kMost);
static_assert((1u << EdgeDigits::kMostFirstBits) <= UsualBins::kMostBins &&
              (1u << EdgeDigits::kMostSecondBits) <= UsualBins::kMostBins &&
              (1u << EdgeDigits::kMostOnlyBits) <= ManyBins::kMostBins);

/// What edges become, in any memory.
template <class Memory>
struct SortedElements {
  BuildVector<Memory, EdgeOffset> row_offsets;  ///< num_vertices + 1
  BuildVector<Memory, VertexId> col_indices;    ///< ascending in a row, each once
  /// Elements with columns in each of KeyRanges; or none.
  BuildVector<Memory, std::uint32_t> columns_in_ranges{};
};

/// One to 2^32 - 2 edges, of vertices that EdgeDigits fit.
class EdgeSort {
 public:
  template <class T>
  using Vector = BuildVector<DeviceMemory, T>;

  EdgeSort(std::uint64_t num_vertices, std::uint64_t num_edges, const VertexId* rows, const VertexId* cols)
      : has_many_bins_(most_shared_bytes() >= sizeof(BinTile<RowsToBuckets>)),
        digits_(EdgeDigits::of(num_vertices, num_edges, has_many_bins_ ? EdgeDigits::kMostOnlyBits : 0)),
        num_vertices_(num_vertices),
        num_edges_(num_edges),
        rows_(rows),
        cols_(cols) {}

  SortedElements<DeviceMemory> run() {
    Vector<std::uint32_t> row_lengths;  // and behind them a bit for each edge: is it repeated?
    Vector<EdgeOffset> offsets;
    {
      Vector<std::uint32_t> spare;
      const Vector<std::uint32_t> ends = deal_by_rows(spare);
      offsets = Vector<EdgeOffset>(num_vertices_ + 1);  // before spare is freed, where columns may lie then
      row_lengths = DeviceMemory::zeros<std::uint32_t>(num_vertices_ + num_edges_ / 32 + 2);
      const KeySort all{
          digits_,           keys_.data(), spare.data(), keys_.data(), row_lengths.data() + num_vertices_,
          row_lengths.data()};
      BucketSort(all, keys_.data(), spare.data(), num_edges_, side_).run(ends.data());
    }
    const KeyRanges ranges = counted_ranges();
    auto in_ranges = DeviceMemory::zeros<std::uint32_t>(ranges.count);
    auto cols = unmarked_elements(std::move(keys_), row_lengths.data() + num_vertices_,
                                  {ranges.shift, ranges.count, in_ranges.data()}, side_,
                                  [&] { sum_up_lengths(row_lengths, offsets.data()); });
    return {std::move(offsets), std::move(cols), std::move(in_ranges)};
  }

  // Parents of device lambdas must be public.
  /// Keys by bucket. Gives where buckets end. Memory is asked for while a device counts or deals rows, as
  /// that may take the host long.
  Vector<std::uint32_t> deal_by_rows(Vector<std::uint32_t>& halfway) {
    if (has_many_bins_ && digits_.in_one_step()) return deal_at_once(halfway);
    RowsToBins edges{{rows_, cols_, digits_}, nullptr, nullptr};
    BinPlan plan = plan_bins(Segments::whole(num_edges_), digits_.num_first_bins(), num_edges_, edges);
    halfway = Vector<std::uint32_t>(num_edges_);
    Vector<std::uint16_t> seconds(num_edges_);
    edges.seconds = seconds.data();
    edges.keys = halfway.data();
    const auto ends = deal_to_bins(std::move(plan), edges);
    keys_ = Vector<std::uint32_t>(num_edges_);
    return deal_to_bins(Segments::until(ends), digits_.num_second_bins(), num_edges_,
                        SecondsToBins{seconds.data(), halfway.data(), keys_.data()});
  }

  /// spare: room that the sort of buckets needs.
  Vector<std::uint32_t> deal_at_once(Vector<std::uint32_t>& spare) {
    RowsToBuckets edges{{rows_, cols_, digits_}, nullptr};
    BinPlan plan = plan_bins(Segments::whole(num_edges_), digits_.num_buckets(), num_edges_, edges);
    keys_ = Vector<std::uint32_t>(num_edges_);
    edges.keys = keys_.data();
    auto ends = deal_to_bins(std::move(plan), edges);
    spare = Vector<std::uint32_t>(num_edges_);
    return ends;
  }

  /// None where columns are so few, half of those that are grouped where this is not known, that it takes as
  /// long to count them without.
  KeyRanges counted_ranges() const {
    const KeyRanges ranges = KeyRanges::of(num_vertices_);
    return are_grouped(2 * num_edges_, ranges) ? KeyRanges{0, 0} : ranges;
  }

  void sum_up_lengths(const Vector<std::uint32_t>& row_lengths, EdgeOffset* offsets) const {
    const std::uint32_t* of_rows = row_lengths.data();
    sum_up<EdgeOffset, DeviceMemory>(
        num_vertices_ + 1,
        [=] __host__ __device__(std::uint64_t i) -> EdgeOffset { return i == 0 ? 0 : of_rows[i - 1]; },
        offsets);
  }

 private:
  bool has_many_bins_;  // of a block: there is shared memory for them
  EdgeDigits digits_;
  std::uint64_t num_vertices_, num_edges_;
  const VertexId *rows_, *cols_;
  Vector<std::uint32_t> keys_;     // columns at the end
  SideStream<DeviceMemory> side_;  // the last member, which waits before others free what is used there
};

}  // namespace tessera::cuda
