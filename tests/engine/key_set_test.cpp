// Sets of small integers with ranks.
#include "engine/key_set.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

namespace tessera {
namespace {

TEST(KeySet, EmptyUniverseWorks) {
  KeySet set(0);
  set.count_ranks();
  EXPECT_EQ(set.size(), 0u);
  EXPECT_EQ(set.rank(0), 0u);
}

RC_GTEST_PROP(KeySetProperty, RanksCountSmallerKeys, ()) {
  const auto keys = *rc::gen::container<std::set<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 500));
  KeySet set(500);
  for (std::uint32_t key : keys) set.insert(key);
  for (std::uint32_t key : keys) set.insert(key);
  set.count_ranks();
  RC_ASSERT(set.size() == keys.size());
  std::uint64_t rank = 0;
  for (std::uint32_t key = 0; key < 500; ++key) {
    RC_ASSERT(set.rank(key) == rank);
    RC_ASSERT(set.contains(key) == (keys.count(key) == 1));
    rank += keys.count(key);
  }
  RC_ASSERT(set.rank(500) == rank);
  std::vector<std::uint32_t> ranks(keys.begin(), keys.end());
  set.ranks(ranks.data(), ranks.size(), ranks.data());
  for (std::uint32_t i = 0; i < ranks.size(); ++i) RC_ASSERT(ranks[i] == i);
}

RC_GTEST_PROP(KeySetProperty, ForEachVisitsARangeOfRanks, ()) {
  const auto keys = *rc::gen::container<std::set<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 1000));
  KeySet set(1000);
  for (std::uint32_t key : keys) set.insert(key);
  set.count_ranks();
  const auto first = *rc::gen::inRange<std::uint64_t>(0, keys.size() + 1);
  const auto last = *rc::gen::inRange<std::uint64_t>(first, keys.size() + 1);
  std::vector<std::uint32_t> visited, expected(std::next(keys.begin(), first), std::next(keys.begin(), last));
  set.for_each(first, last, [&](std::uint64_t key) { visited.push_back(static_cast<std::uint32_t>(key)); });
  RC_ASSERT(visited == expected);
}

}  // namespace
}  // namespace tessera
