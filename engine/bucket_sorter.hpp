// Sorts one bucket of edges by row, then source, with counting passes in cache, and applies the rule for
// duplicates. Buckets whose sources ascend, as those of a graph that is turned round and of files sorted by
// source, are counted and placed alone. One object a thread, for many buckets.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/edge_buckets.hpp"
#include "engine/graph_options.hpp"

namespace tessera {

template <bool kWeighted>
class BucketSorter {
 public:
  using Entry = typename EdgeBuckets<kWeighted>::Entry;
  BucketSorter(EdgeOffset largest_bucket, std::uint64_t num_sources, Duplicates duplicates);

  /// Reads `count` entries of a bucket with `num_rows` rows. Afterwards the results below are valid.
  void sort(const Entry* entries, EdgeOffset count, std::uint64_t num_rows);

  /// Sources of all rows after the rule for duplicates, row after row.
  std::span<std::uint32_t> sources() { return {sources_.data(), row_begin_.back()}; }
  std::span<const double> weights() const { return {weights_.data(), kWeighted ? row_begin_.back() : 0}; }
  /// num_rows + 1 positions in sources().
  std::span<const EdgeOffset> row_begin() const { return row_begin_; }
  std::uint64_t duplicates_found() const { return duplicates_found_; }
  /// Whether weights of a repeated edge have added up to more than a double holds.
  bool has_overflown() const { return has_overflown_; }

 private:
  struct PlainItem {
    std::uint32_t source, row;
  };
  struct WeightedItem {
    std::uint32_t source, row;
    double weight;
  };
  using Item = std::conditional_t<kWeighted, WeightedItem, PlainItem>;

  void count_rows(const Entry* entries, EdgeOffset count);
  void count_rows_and_digits(const Entry* entries, EdgeOffset count);
  const Item* sort_by_source(const Entry* entries, EdgeOffset count);
  template <class Edge>
  void place_by_row(const Edge* edges, EdgeOffset count);
  void combine_duplicates();

  Duplicates duplicates_;
  int digit_bits_ = 0, num_digits_ = 0;
  std::vector<std::vector<std::uint64_t>> digit_begin_;  // [digit][value]
  std::vector<EdgeOffset> row_begin_, row_next_;
  Buffer<Item> items_[2];
  Buffer<std::uint32_t> sources_;
  Buffer<double> weights_;
  std::uint64_t duplicates_found_ = 0;
  bool has_overflown_ = false;
};

}  // namespace tessera
