#include "tools/nearest_name.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tessera::cli {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] != b[j - 1]);
      current[j] = std::min({replace, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::string nearest_name(std::string_view typed, std::span<const std::string> names) {
  const std::size_t num_letters = typed.size() - std::min(typed.find_first_not_of('-'), typed.size());
  std::size_t best_distance = std::max<std::size_t>(1, num_letters / 3) + 1;
  std::string best;
  for (const std::string& name : names) {
    // A beginning of a name ("damp") is near however much is missing.
    const bool is_prefix = typed.size() >= 3 && name.starts_with(typed);
    const std::size_t distance = is_prefix ? 1 : edit_distance(typed, name);
    if (distance < best_distance && distance < name.size()) best_distance = distance, best = name;
  }
  return best;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> names) {
  const std::string nearest = nearest_name(typed, names);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace tessera::cli
