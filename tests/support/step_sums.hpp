// Sums of a run's steps as a list, and back.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "kernels/vector_sums.hpp"

namespace tessera::test {

inline PendingSteps pending(std::vector<VectorSums> sums) {
  return PendingSteps([sums = std::move(sums), next = std::size_t{0}]() mutable {
    return next < sums.size() ? std::optional(sums[next++]) : std::nullopt;
  });
}

/// Once the run has ended.
inline std::vector<VectorSums> all_of(PendingSteps steps) {
  std::vector<VectorSums> sums;
  while (auto next = steps.next()) sums.push_back(*next);
  return sums;
}

}  // namespace tessera::test
