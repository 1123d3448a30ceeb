// The largest entries of a vector that a device finds: those of the CPU. Skips, visibly, where no device
// answers.
#include <algorithm>

#include "tests/support/device_case.hpp"

namespace tessera::test {
namespace {

template <class S>
class DeviceLargest : public DeviceBackend<S> {};

TYPED_TEST_SUITE(DeviceLargest, Precisions);

TYPED_TEST(DeviceLargest, AreThoseOfTheCpu) {
  using S = TypeParam;
  for (const std::size_t size : {std::size_t{1}, std::size_t{33}, std::size_t{1'000'003}}) {
    auto values = random_values<S>(size, 9);
    for (std::size_t i = 0; i < size; ++i) {
      if (i % 3 == 1) values[i] = -values[i];
      if (i % 5 == 2) values[i] = values[i / 2] * S{1e-30f};  // far from the others, and some of them equal
      if (i % 7 == 3) values[i] = 0;
    }
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{10}, size / 9,
                                      size / 2, std::uint64_t{size}, std::uint64_t{2 * size}})
      for (const std::uint64_t most : {std::uint64_t{size}, std::uint64_t{12}})
        this->expect_same([&](Backend<S>& backend) {
          std::vector<std::pair<std::uint64_t, S>> entries;
          auto found = backend.largest(this->put(backend, values), count, most);
          if (!found) return std::pair(false, entries);
          for (const VectorEntry<S>& entry : *found) entries.emplace_back(entry.index, entry.value);
          std::sort(entries.begin(), entries.end());
          EXPECT_GE(entries.size(), std::min<std::uint64_t>(count, size / 4));
          return std::pair(true, entries);
        });
  }
}

}  // namespace
}  // namespace tessera::test
