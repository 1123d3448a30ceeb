// Numbers for vectors of tests, the same for the same seed.
#pragma once
#include <random>
#include <vector>

namespace tessera::test {

/// In [low, 1).
template <class T>
std::vector<T> random_values(std::size_t size, unsigned seed, double low = 0) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(low, 1);
  std::vector<T> values(size);
  for (T& value : values) value = static_cast<T>(uniform(engine));
  return values;
}

}  // namespace tessera::test
