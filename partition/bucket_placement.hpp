// A pass of a stable counting sort, by all threads.
#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera {

/// Puts 0..count-1 into buckets, within each in ascending order: put(position, i) for every i, from many
/// threads at once, where bucket_of(i) < num_buckets and positions count up through the buckets. Neither may
/// throw. The position of each bucket's first, and the end.
template <class BucketOf, class Put>
std::vector<std::uint64_t> place_in_buckets(std::uint64_t count, std::uint64_t num_buckets,
                                            const BucketOf& bucket_of, const Put& put) {
  // Where there is little to place, counters of more threads cost more than these gain.
  const auto parts = static_cast<int>(std::clamp<std::uint64_t>(
      count / (8 * num_buckets + 8192), 1, static_cast<std::uint64_t>(std::max(1, omp_get_max_threads()))));
  const auto first_of = [&](int part) { return count * part / parts; };
  std::vector<std::uint64_t> next(num_buckets * parts, 0);
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    std::uint64_t* const counts = next.data() + num_buckets * part;
    for (std::uint64_t i = first_of(part), end = first_of(part + 1); i < end; ++i) ++counts[bucket_of(i)];
  }
  std::vector<std::uint64_t> firsts(num_buckets + 1, 0);
  std::uint64_t position = 0;
  for (std::uint64_t bucket = 0; bucket < num_buckets; ++bucket) {
    firsts[bucket] = position;
    for (int part = 0; part < parts; ++part)
      position += std::exchange(next[num_buckets * part + bucket], position);
  }
  firsts[num_buckets] = position;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    std::uint64_t* const places = next.data() + num_buckets * part;
    for (std::uint64_t i = first_of(part), end = first_of(part + 1); i < end; ++i)
      put(places[bucket_of(i)]++, i);
  }
  return firsts;
}

}  // namespace tessera
