// The median of times and the like.
#pragma once
#include <algorithm>
#include <vector>

namespace tessera {

/// Of an even number of values the larger of the middle two; 0 of none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace tessera
