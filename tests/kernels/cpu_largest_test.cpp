// The largest entries of a vector beside a sort of all of it.
#include "kernels/cpu/cpu_largest.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace tessera::cpu {
namespace {

template <class S>
std::vector<VectorEntry<S>> by_sorting(const std::vector<S>& values, std::uint64_t count) {
  std::vector<S> sorted = values;
  std::sort(sorted.begin(), sorted.end(), std::greater<S>());
  std::vector<VectorEntry<S>> found;
  for (std::size_t i = 0; i < values.size() && count > 0; ++i)
    if (values[i] > 0 && values[i] >= sorted[std::min<std::uint64_t>(count, sorted.size()) - 1])
      found.push_back({i, values[i]});
  return found;
}

template <class S>
void expect_largest(const std::vector<S>& values, std::uint64_t count) {
  EXPECT_EQ(largest(values.data(), values.size(), count, values.size()), by_sorting(values, count)) << count;
}

RC_GTEST_PROP(Largest, AreThoseOfASort, (const std::vector<signed char>& bytes)) {
  std::vector<float> values;
  for (const signed char byte : bytes) values.push_back(static_cast<float>(byte / 8) * 0.125f);
  const std::uint64_t count = *rc::gen::inRange<std::uint64_t>(0, bytes.size() + 3);
  const auto expected = by_sorting(values, count);
  RC_ASSERT(largest(values.data(), values.size(), count, expected.size()) == expected);
  if (!expected.empty())
    RC_ASSERT(!largest(values.data(), values.size(), count, expected.size() - 1).has_value());
}

TEST(Largest, AreFoundInVectorsOfSeveralParts) {
  std::vector<double> values(200'001);
  for (std::size_t i = 0; i < values.size(); ++i)  // each four times, here and there
    values[i] = static_cast<double>(i * 7919 % 50'000) * 1e-300;
  for (const std::uint64_t count : {0, 1, 5, 70'000, 200'000, 200'001, 300'000})
    expect_largest(values, count);
}

TEST(Largest, TellApartWhatDiffersInTheLastBit) {
  constexpr float kOne = 1, kMore = 1 + std::numeric_limits<float>::epsilon();
  const std::vector<float> values{kOne, kMore, kOne, 0.5f};
  EXPECT_EQ(largest(values.data(), values.size(), 1, 1), (std::vector<VectorEntry<float>>{{1, kMore}}));
  expect_largest(values, 2);
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  expect_largest<double>({0, kTiny, -kTiny, 2 * kTiny, std::numeric_limits<double>::max()}, 2);
}

TEST(Largest, BringToLightWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), most = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, -nan, most}) {
    const std::vector<double> values{1, 2, bad, 3};
    const auto found = largest(values.data(), values.size(), 1, 4);
    ASSERT_TRUE(found && found->size() == 1);
    EXPECT_EQ(found->front().index, 2u);
  }
}

}  // namespace
}  // namespace tessera::cpu
