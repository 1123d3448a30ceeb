// See row_sorter.hpp. Threads take buckets in order. Where a bucket's rows go is known once the buckets
// before it have counted theirs; as buckets are taken in order, that wait is short and cannot be circular.
#include "engine/row_sorter.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>

#include "engine/bucket_sorter.hpp"
#include "engine/edge_buckets.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Gives each bucket the place behind its predecessor.
class InOrder {
 public:
  /// Waits for the buckets before `bucket`, then returns the sum of their counts.
  EdgeOffset claim(std::uint64_t bucket, EdgeOffset count) {
    for (std::uint64_t now; (now = turn_.load(std::memory_order_acquire)) != bucket;) turn_.wait(now);
    const EdgeOffset begin = end_;
    end_ += count;
    turn_.store(bucket + 1, std::memory_order_release);
    turn_.notify_all();
    return begin;
  }
  EdgeOffset end() const { return end_; }

 private:
  std::atomic<std::uint64_t> turn_{0};
  EdgeOffset end_ = 0;
};

/// Offsets of the rows that exist: all of a bucket, or those whose key is present.
void write_offsets(std::span<const EdgeOffset> row_begin, std::uint64_t first_row, EdgeOffset base,
                   const KeySet* keys, EdgeOffset* row_offsets) {
  if (keys == nullptr) {
    for (std::size_t r = 0; r + 1 < row_begin.size(); ++r) row_offsets[first_row + r] = base + row_begin[r];
    return;
  }
  std::uint64_t id = keys->rank(first_row);
  for (std::size_t r = 0; r + 1 < row_begin.size(); ++r)
    if (keys->contains(first_row + r)) row_offsets[id++] = base + row_begin[r];
}

template <bool kWeighted>
void sort_buckets(const EdgeBuckets<kWeighted>& buckets, const KeySet* keys,
                  std::vector<BucketSorter<kWeighted>>& sorters, SortedRows& rows) {
  const BucketPlan& plan = buckets.plan;
  InOrder order;
  std::atomic<std::uint64_t> next_bucket{0};
  std::uint64_t duplicates = 0;
  bool overflow = false;
#pragma omp parallel num_threads(static_cast <int>(sorters.size())) reduction(+ : duplicates) \
    reduction(|| : overflow)
  {
    BucketSorter<kWeighted>& sorter = sorters[omp_get_thread_num()];
    for (std::uint64_t b; (b = next_bucket.fetch_add(1)) < plan.num_buckets();) {
      const EdgeOffset count = plan.first_edge[b + 1] - plan.first_edge[b];
      sorter.sort(buckets.entries(b), count, plan.first_row[b + 1] - plan.first_row[b]);
      release_pages(buckets.entries(b), count * sizeof(*buckets.entries(b)));
      duplicates += sorter.duplicates_found();
      overflow = overflow || sorter.has_overflown();
      const auto sources = sorter.sources();
      const EdgeOffset base = order.claim(b, sources.size());
      write_offsets(sorter.row_begin(), plan.first_row[b], base, keys, rows.row_offsets.data());
      VertexId* columns = rows.col_indices.data() + base;
      if (keys != nullptr)
        keys->ranks(sources.data(), sources.size(), columns);
      else
        std::copy(sources.begin(), sources.end(), columns);
      if constexpr (kWeighted)
        std::copy(sorter.weights().begin(), sorter.weights().end(), rows.weights.data() + base);
    }
  }
  if (overflow)
    throw InputError("the weights of a repeated edge add up to more than a double holds; scale them down");
  rows.duplicate_edges = duplicates;
  rows.row_offsets[rows.row_offsets.size() - 1] = order.end();
  rows.col_indices.truncate(order.end());
  rows.weights.truncate(order.end());
}

template <bool kWeighted, class Source>
SortedRows sort_rows_of(Source& source, const RowSortOptions& options) {
  const auto buckets = deal_edges<kWeighted>(source, options.rules, options.first_row, options.num_rows);
  const EdgeOffset num_edges = buckets.plan.first_edge.back();
  SortedRows rows;
  rows.self_loops = buckets.self_loops;
  rows.row_offsets = Buffer<EdgeOffset>((options.keys ? options.keys->size() : options.num_rows) + 1);
  rows.col_indices = Buffer<VertexId>(num_edges);
  if (kWeighted) rows.weights = Buffer<double>(num_edges);
  std::vector<BucketSorter<kWeighted>> sorters;
  for (int t = 0; t < std::max(1, omp_get_max_threads()); ++t)
    sorters.emplace_back(buckets.plan.largest(), options.num_sources, options.duplicates);
  sort_buckets<kWeighted>(buckets, options.keys, sorters, rows);
  return rows;
}

}  // namespace

template <class Source>
SortedRows sort_rows(Source& source, const RowSortOptions& options) {
  return options.weighted ? sort_rows_of<true>(source, options) : sort_rows_of<false>(source, options);
}

template SortedRows sort_rows(PairSource&, const RowSortOptions&);
template SortedRows sort_rows(GraphSource&, const RowSortOptions&);

}  // namespace tessera
