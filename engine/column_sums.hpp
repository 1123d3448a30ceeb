// Sums over the elements of each column, which are in any order.
#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/region_failure.hpp"
#include "kernels/base/buffer.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

/// columns: < num_columns each. One T a column, T{} at first: add(sum of the element's column, element) for
/// every element. Threads have sums of their own where there are enough elements to pay for them, which are
/// added with +=; that has to be exact, so that their number does not matter.
template <class T, class Add>
Buffer<T> sums_by_column(std::span<const VertexId> columns, std::uint64_t num_columns, const Add& add) {
  constexpr std::uint64_t kElementsWorthASum = sizeof(T) <= sizeof(std::uint32_t) ? 1 : 2;
  const std::uint64_t paying = columns.size() / (kElementsWorthASum * num_columns + 1);
  const auto parts = static_cast<int>(
      std::clamp<std::uint64_t>(paying, 1, static_cast<std::uint64_t>(std::max(1, omp_get_max_threads()))));
  std::vector<Buffer<T>> sums(parts);
  RegionFailure failure;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part)
    failure.guard([&] {
      Buffer<T> own(num_columns);
      std::fill(own.begin(), own.end(), T{});  // its pages are found by all threads at once
      const std::uint64_t first = columns.size() * part / parts, end = columns.size() * (part + 1) / parts;
      for (std::uint64_t e = first; e < end; ++e) add(own[columns[e]], e);
      sums[part] = std::move(own);
    });
  failure.rethrow();
  const auto count = static_cast<std::int64_t>(num_columns);
#pragma omp parallel for
  for (std::int64_t c = 0; c < count; ++c)
    for (int part = 1; part < parts; ++part) sums[0][c] += sums[part][c];
  return std::move(sums[0]);
}

}  // namespace tessera
