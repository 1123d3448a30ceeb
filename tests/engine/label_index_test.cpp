// Hash tables of scattered labels.
#include "engine/label_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tessera {
namespace {

/// Labels all over 64 bits, the largest among them.
std::vector<std::uint64_t> scattered_labels() {
  std::vector<std::uint64_t> labels = {0, 1, ~std::uint64_t{0}, ~std::uint64_t{0} - 1};
  for (std::uint64_t i = 1; i < 5000; ++i) labels.push_back(i << (i % 40));
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

TEST(LabelSet, KeepsEachLabelOnce) {
  const auto labels = scattered_labels();
  LabelSet set;
  for (int round = 0; round < 2; ++round)
    for (std::uint64_t label : labels) set.insert(label);
  auto taken = set.take();
  std::sort(taken.begin(), taken.end());
  EXPECT_EQ(taken, labels);
  EXPECT_TRUE(set.take().empty());
}

TEST(LabelIndex, FindsTheIdOfEveryLabel) {
  const auto labels = scattered_labels();
  std::vector<VertexId> ids(labels.size()), found(labels.size());
  std::iota(ids.rbegin(), ids.rend(), VertexId{7});
  const LabelIndex index(labels, ids);
  index.find(labels.data(), labels.size(), found.data());
  EXPECT_EQ(found, ids);
}

}  // namespace
}  // namespace tessera
