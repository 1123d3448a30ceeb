// Ids of labels over several ranks, beside a set of all of them.
#include "engine/label_numbering.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>

#include "engine/graph.hpp"
#include "kernels/base/mix_bits.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera {
namespace {

using test::run_ranks;

IntegerList list_of(const std::set<std::uint64_t>& labels) { return {labels.begin(), labels.end()}; }
StringList list_of(const std::set<std::string>& labels) {
  StringList list;
  for (const std::string& label : labels) {
    list.bytes += label;
    list.offsets.push_back(list.bytes.size());
  }
  return list;
}

/// Every rank's ids are the positions of its labels among all, and the blocks joined are all labels.
template <class Label>
void expect_numbered(const std::vector<std::set<Label>>& seen) {
  const int num_ranks = static_cast<int>(seen.size());
  std::set<Label> all;
  for (const auto& labels : seen) all.insert(labels.begin(), labels.end());
  const std::vector<Label> sorted(all.begin(), all.end());
  std::vector<std::vector<Label>> blocks(seen.size());
  std::mutex mutex;
  run_ranks(num_ranks, [&](Communicator& comm) {
    const auto& mine = seen[static_cast<std::size_t>(comm.rank())];
    const auto numbering = number_labels(list_of(mine), comm);
    const std::lock_guard lock(mutex);
    EXPECT_EQ(numbering.num_vertices, all.size());
    ASSERT_EQ(numbering.ids.size(), mine.size());
    std::size_t i = 0;
    for (const Label& label : mine) EXPECT_EQ(sorted[numbering.ids[i++]], label);
    for (std::uint64_t k = 0; k < numbering.block.size(); ++k)
      blocks[static_cast<std::size_t>(comm.rank())].emplace_back(label_at(numbering.block, k));
  });
  std::vector<Label> joined;
  for (const auto& block : blocks) joined.insert(joined.end(), block.begin(), block.end());
  EXPECT_EQ(joined, sorted);
  const auto boundaries = block_boundaries(sorted.size(), num_ranks);
  for (std::size_t r = 0; r < blocks.size(); ++r)
    EXPECT_EQ(blocks[r].size(), boundaries[r + 1] - boundaries[r]) << "rank " << r;
}

TEST(NumberLabels, NumbersIntegersOfAllRanks) {
  for (const int num_ranks : {1, 2, 3, 5}) {
    RandomBits random(static_cast<std::uint64_t>(num_ranks));
    std::vector<std::set<std::uint64_t>> seen(static_cast<std::size_t>(num_ranks));
    for (auto& labels : seen)
      for (int i = 0; i < 700; ++i) labels.insert(random.next() >> (random.next() % 64));
    expect_numbered(seen);
  }
}

TEST(NumberLabels, NumbersStringsOfAllRanks) {
  for (const int num_ranks : {1, 2, 3, 5}) {
    RandomBits random(static_cast<std::uint64_t>(num_ranks) + 10);
    std::vector<std::set<std::string>> seen(static_cast<std::size_t>(num_ranks));
    for (auto& labels : seen)
      for (int i = 0; i < 300; ++i) {
        std::string label;
        for (std::uint64_t length = random.next() % 4; length > 0; --length)
          label.push_back(static_cast<char>(random.next()));  // bytes order as unsigned ones
        labels.insert(label);
      }
    expect_numbered(seen);
  }
}

TEST(NumberLabels, TakesRanksWithoutLabels) {
  expect_numbered<std::uint64_t>({{}, {5, 7}, {}});
  expect_numbered<std::uint64_t>({{}, {}});
  expect_numbered<std::string>({{"b"}, {}, {"a", "b"}, {}});
}

}  // namespace
}  // namespace tessera
