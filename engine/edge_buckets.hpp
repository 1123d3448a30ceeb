// Edges dealt into buckets by target: each bucket is a run of rows whose edges fit a core's cache, so that
// sorting them (row_sorter.cpp) never goes to memory. Order inside a bucket is file order.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/edge_source.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

/// An edge in a bucket: the row is counted from the bucket's first row, which saves a quarter of the memory.
struct __attribute__((packed)) PackedEdge {
  std::uint32_t source;
  std::uint16_t row;
};
struct __attribute__((packed)) PackedWeightedEdge {
  std::uint32_t source;
  std::uint16_t row;
  double weight;
};

/// Rows [first_row[b], first_row[b + 1]) and edges [first_edge[b], first_edge[b + 1]) belong to bucket b.
struct BucketPlan {
  int bin_shift = 0;  ///< rows are counted in bins of 2^bin_shift
  std::vector<std::uint16_t> bucket_of_bin;
  std::vector<std::uint64_t> first_row;
  std::vector<EdgeOffset> first_edge;
  std::uint64_t num_buckets() const { return first_row.size() - 1; }
  EdgeOffset largest() const;
};

inline constexpr std::uint64_t kMaxRowsPerBucket = std::uint64_t{1} << 16;

/// Width of the bins for `num_rows` rows (at most 2^32) and about `num_edges` edges.
int choose_bin_shift(std::uint64_t num_rows, EdgeOffset num_edges);
/// Joins neighbouring bins to buckets. bin_edges: edges of each bin.
BucketPlan plan_buckets(std::span<const EdgeOffset> bin_edges, int bin_shift, std::uint64_t num_rows);

template <bool kWeighted>
struct EdgeBuckets {
  using Entry = std::conditional_t<kWeighted, PackedWeightedEdge, PackedEdge>;
  BucketPlan plan;
  std::unique_ptr<PageMemory> memory;
  std::uint64_t self_loops = 0;  ///< seen in the source
  Entry* entries(std::uint64_t bucket) const {
    return static_cast<Entry*>(memory->data()) + plan.first_edge[bucket];
  }
};

/// Deals the edges of `source` (which is consumed) with targets in [first_row, first_row + num_rows).
template <bool kWeighted, class Source>
EdgeBuckets<kWeighted> deal_edges(Source& source, const EdgeRules& rules, std::uint32_t first_row,
                                  std::uint64_t num_rows);

}  // namespace tessera
