#include "kernels/cpu/cpu_largest.hpp"

#include <algorithm>
#include <functional>

#include "kernels/base/types.hpp"

namespace tessera::cpu {
namespace {

constexpr std::uint64_t kPart = std::uint64_t{1} << 16;  // of a vector: a thread's

/// The `count`-th largest; keys come in another order.
template <class Key>
Key find_key(std::vector<Key>& keys, std::uint64_t count) {
  const auto place = keys.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(keys.begin(), place, keys.end(), std::greater<Key>());
  return *place;
}

/// The `count` largest keys of each part: all of the largest are among them.
template <class S>
std::vector<ScoreKey<S>> keys_of_parts(const S* values, std::uint64_t size, std::uint64_t count) {
  std::vector<std::vector<ScoreKey<S>>> parts(ceil_div(size, kPart));
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t p = 0; p < parts.size(); ++p) {
    std::vector<ScoreKey<S>>& keys = parts[p];
    const std::uint64_t first = p * kPart, end = std::min(size, first + kPart);
    keys.resize(end - first);
    for (std::uint64_t i = first; i < end; ++i) keys[i - first] = score_key(values[i]);
    if (count >= keys.size()) continue;
    find_key(keys, count);
    keys.resize(count);
  }
  std::vector<ScoreKey<S>> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

template <class S>
std::vector<VectorEntry<S>> largest(const S* values, std::uint64_t size, std::uint64_t count) {
  if (count == 0) return {};
  ScoreKey<S> least = 1;  // of what is above 0
  if (count < size) {
    auto keys = keys_of_parts(values, size, count);
    least = std::max(least, find_key(keys, count));
  }
  std::vector<std::vector<VectorEntry<S>>> parts(ceil_div(size, kPart));
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::uint64_t i = p * kPart; i < std::min(size, (p + 1) * kPart); ++i)
      if (score_key(values[i]) >= least) parts[p].push_back({i, values[i]});
  std::vector<VectorEntry<S>> found;
  for (const auto& part : parts) found.insert(found.end(), part.begin(), part.end());
  return found;
}

template std::vector<VectorEntry<float>> largest(const float*, std::uint64_t, std::uint64_t);
template std::vector<VectorEntry<double>> largest(const double*, std::uint64_t, std::uint64_t);

}  // namespace tessera::cpu
