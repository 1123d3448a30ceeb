#include "kernels/cpu/cpu_largest.hpp"

#include <omp.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "kernels/base/types.hpp"

namespace tessera::cpu {
namespace {

constexpr std::uint64_t kPart = std::uint64_t{1} << 16;  // of a vector: a thread's

/// The `count`-th largest; keys come in another order.
template <class Key>
Key find_key(std::span<Key> keys, std::uint64_t count) {
  const auto place = keys.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(keys.begin(), place, keys.end(), std::greater<Key>());
  return *place;
}

/// The `count` < size largest keys of each part, or all and 0: all of the largest are among them.
template <class S>
std::vector<ScoreKey<S>> keys_of_parts(const S* values, std::uint64_t size, std::uint64_t count) {
  using Key = ScoreKey<S>;
  const std::uint64_t num_parts = ceil_div(size, kPart), num_kept = std::min(count, kPart);
  std::vector<Key> kept(num_parts * num_kept, Key{0}),
      of_threads(static_cast<std::size_t>(omp_get_max_threads()) * kPart);
#pragma omp parallel for schedule(dynamic, 1)
  for (std::uint64_t p = 0; p < num_parts; ++p) {
    const std::uint64_t first = p * kPart, in_part = std::min(size - first, kPart);
    const std::span<Key> keys(of_threads.data() + static_cast<std::size_t>(omp_get_thread_num()) * kPart,
                              in_part);
    for (std::uint64_t i = 0; i < in_part; ++i) keys[i] = score_key(values[first + i]);
    if (num_kept < in_part) find_key(keys, num_kept);
    std::copy_n(keys.begin(), std::min(num_kept, in_part),
                kept.begin() + static_cast<std::ptrdiff_t>(p * num_kept));
  }
  return kept;
}

/// How many of each part have such a key or a larger one.
template <class S>
std::vector<std::uint64_t> counts_of_parts(const S* values, std::uint64_t size, ScoreKey<S> least) {
  std::vector<std::uint64_t> counts(ceil_div(size, kPart));
#pragma omp parallel for schedule(static)
  for (std::size_t p = 0; p < counts.size(); ++p) {
    const S* const first = values + p * kPart;
    counts[p] = static_cast<std::uint64_t>(std::count_if(first, first + std::min(size - p * kPart, kPart),
                                                         [&](S value) { return score_key(value) >= least; }));
  }
  return counts;
}

}  // namespace

template <class S>
std::optional<std::vector<VectorEntry<S>>> largest(const S* values, std::uint64_t size, std::uint64_t count,
                                                   std::uint64_t most) {
  std::vector<VectorEntry<S>> found;
  if (count == 0) return found;
  ScoreKey<S> least = 1;  // of what is above 0
  if (count < size) {
    auto keys = keys_of_parts(values, size, count);
    least = std::max(least, find_key(std::span(keys), count));
  }
  std::vector<std::uint64_t> ends = counts_of_parts(values, size, least);
  std::inclusive_scan(ends.begin(), ends.end(), ends.begin());
  const std::uint64_t num_found = ends.empty() ? 0 : ends.back();
  if (num_found > most) return std::nullopt;
  found.resize(num_found);
#pragma omp parallel for schedule(static)
  for (std::size_t p = 0; p < ends.size(); ++p) {
    std::uint64_t next = p == 0 ? 0 : ends[p - 1];
    for (std::uint64_t i = p * kPart; i < std::min(size, (p + 1) * kPart); ++i)
      if (score_key(values[i]) >= least) found[next++] = {i, values[i]};
  }
  return found;
}

template std::optional<std::vector<VectorEntry<float>>> largest(const float*, std::uint64_t, std::uint64_t,
                                                                std::uint64_t);
template std::optional<std::vector<VectorEntry<double>>> largest(const double*, std::uint64_t, std::uint64_t,
                                                                 std::uint64_t);

}  // namespace tessera::cpu
