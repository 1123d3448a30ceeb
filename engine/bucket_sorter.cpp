// See bucket_sorter.hpp. Least significant digit first: the source's digits, then the row; every pass is
// stable, so equal edges keep file order.
#include "engine/bucket_sorter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace tessera {
namespace {

constexpr int kMaxDigitBits = 11;

}  // namespace

template <bool kWeighted>
BucketSorter<kWeighted>::BucketSorter(EdgeOffset largest_bucket, std::uint64_t num_sources,
                                      Duplicates duplicates)
    : duplicates_(duplicates),
      row_begin_(1, 0),
      sources_(largest_bucket),
      weights_(kWeighted ? largest_bucket : 0) {
  const int bits = std::max(1, static_cast<int>(std::bit_width(num_sources == 0 ? 0 : num_sources - 1)));
  num_digits_ = ceil_div(bits, kMaxDigitBits);
  digit_bits_ = ceil_div(bits, num_digits_);
  digit_begin_.assign(num_digits_, std::vector<std::uint64_t>(std::size_t{1} << digit_bits_));
  for (Buffer<Item>& items : items_) items = Buffer<Item>(largest_bucket);
  // The first touch happens in the thread that sorts; room for the widest bucket avoids growth there.
  row_begin_.reserve(kMaxRowsPerBucket + 1);
  row_next_.reserve(kMaxRowsPerBucket + 1);
}

template <bool kWeighted>
void BucketSorter<kWeighted>::sort(const Entry* entries, EdgeOffset count, std::uint64_t num_rows) {
  row_begin_.assign(num_rows + 1, 0);
  const bool ascends = std::is_sorted(entries, entries + count,
                                      [](const Entry& a, const Entry& b) { return a.source < b.source; });
  if (ascends)
    count_rows(entries, count);
  else
    count_rows_and_digits(entries, count);
  std::exclusive_scan(row_begin_.begin(), row_begin_.end(), row_begin_.begin(), EdgeOffset{0});
  row_next_ = row_begin_;
  if (ascends)
    place_by_row(entries, count);
  else
    place_by_row(sort_by_source(entries, count), count);
  duplicates_found_ = 0;
  has_overflown_ = false;
  combine_duplicates();
}

template <bool kWeighted>
void BucketSorter<kWeighted>::count_rows(const Entry* entries, EdgeOffset count) {
  for (EdgeOffset i = 0; i < count; ++i) ++row_begin_[entries[i].row];
}

/// Starts of all digits' values, and lengths of all rows, in one pass over the entries.
template <bool kWeighted>
void BucketSorter<kWeighted>::count_rows_and_digits(const Entry* entries, EdgeOffset count) {
  for (auto& digit : digit_begin_) std::fill(digit.begin(), digit.end(), 0);
  const std::uint32_t mask = (1u << digit_bits_) - 1;
  for (EdgeOffset i = 0; i < count; ++i) {
    const std::uint32_t source = entries[i].source;
    for (int d = 0; d < num_digits_; ++d) ++digit_begin_[d][(source >> (d * digit_bits_)) & mask];
    ++row_begin_[entries[i].row];
  }
  for (auto& digit : digit_begin_)
    std::exclusive_scan(digit.begin(), digit.end(), digit.begin(), std::uint64_t{0});
}

template <bool kWeighted>
auto BucketSorter<kWeighted>::sort_by_source(const Entry* entries, EdgeOffset count) -> const Item* {
  const std::uint32_t mask = (1u << digit_bits_) - 1;
  std::uint64_t* begin = digit_begin_[0].data();
  Item* out = items_[0].data();
  for (EdgeOffset i = 0; i < count; ++i) {
    const Entry& e = entries[i];
    const std::uint32_t source = e.source;
    Item& item = out[begin[source & mask]++];
    if constexpr (kWeighted)
      item = {source, e.row, e.weight};
    else
      item = {source, e.row};
  }
  for (int d = 1; d < num_digits_; ++d) {
    const Item* in = out;
    out = items_[d % 2].data();
    begin = digit_begin_[d].data();
    for (EdgeOffset i = 0; i < count; ++i) out[begin[(in[i].source >> (d * digit_bits_)) & mask]++] = in[i];
  }
  return out;
}

template <bool kWeighted>
template <class Edge>
void BucketSorter<kWeighted>::place_by_row(const Edge* edges, EdgeOffset count) {
  EdgeOffset* next = row_next_.data();
  for (EdgeOffset i = 0; i < count; ++i) {
    const EdgeOffset position = next[edges[i].row]++;
    sources_[position] = edges[i].source;
    if constexpr (kWeighted) weights_[position] = edges[i].weight;
  }
}

/// Walks over the rows and closes the gaps that merged and dropped edges leave.
template <bool kWeighted>
void BucketSorter<kWeighted>::combine_duplicates() {
  const bool keep = duplicates_ == Duplicates::keep;
  const bool merge = duplicates_ == Duplicates::merge;
  std::uint32_t* sources = sources_.data();
  double* weights = weights_.data();
  EdgeOffset out = 0, in = 0, repeated = 0;
  for (std::size_t row = 0; row + 1 < row_begin_.size(); ++row) {
    const EdgeOffset end = row_begin_[row + 1];
    row_begin_[row] = out;
    std::uint64_t previous = ~std::uint64_t{0};
    for (; in < end; ++in) {
      const std::uint32_t source = sources[in];
      const bool repeats = source == previous;
      previous = source;
      repeated += repeats;
      const bool stays = keep || !repeats;
      if constexpr (kWeighted) {
        if (stays)
          weights[out] = weights[in];
        else if (merge)
          has_overflown_ |= std::isinf(weights[out - 1] += weights[in]);
      }
      sources[out] = source;
      out += stays;
    }
  }
  row_begin_.back() = out;
  duplicates_found_ = repeated;
}

template class BucketSorter<false>;
template class BucketSorter<true>;

}  // namespace tessera
