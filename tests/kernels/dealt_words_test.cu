// What blocks that deal have of a tile, joined, against what all their elements have together; and the words
// in which blocks tell it.
#include "kernels/cuda/dealt_words.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tessera::cuda {
namespace {

/// An element: its row, and whether it is of the tile.
struct Element {
  int row;
  bool is_of_tile;
};

/// Of the elements first to end of all, from their rows alone.
DealtSpan span_of(const std::vector<Element>& all, std::size_t first, std::size_t end) {
  const auto is_row_of = [&](std::size_t i, int row) { return i < all.size() && all[i].row == row; };
  const int before = first == 0 ? -1 : all[first - 1].row;
  DealtSpan span{.is_within_row = is_row_of(first, before) && is_row_of(end, before)};
  int last_row = -1;
  for (std::size_t i = first; i < end; ++i) {
    if (!all[i].is_of_tile) continue;
    if (span.elements == 0) span.begins_open = all[i].row == before;
    span.ends_open = is_row_of(end, all[i].row);
    ++span.elements;
    span.pieces += all[i].row != last_row ? 1 : 0;
    last_row = all[i].row;
  }
  return span;
}

std::vector<Element> random_elements(std::mt19937& random) {
  std::vector<Element> all;
  const unsigned rows = 1 + random() % 5, share = 1 + random() % 8;
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned left = 1 + random() % (random() % 3 == 0 ? 60 : 4); left > 0; --left)
      all.push_back({static_cast<int>(row), random() % share == 0});
  return all;
}

TEST(DealtWords, JoinsBlocksToWhatTheyHaveTogether) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const std::vector<Element> all = random_elements(random);
    // From the last block on, as one that looks back does, and from the first.
    const std::size_t block = 1 + random() % 9;
    DealtSpan back, forth;
    for (std::size_t end = all.size(); end > 0;) {
      const std::size_t first = (end - 1) / block * block;
      back = DealtSpan::joined(span_of(all, first, end), back);
      ASSERT_TRUE(back == span_of(all, first, all.size())) << "round " << round << ", from " << first;
      end = first;
    }
    for (std::size_t first = 0; first < all.size(); first += block) {
      const std::size_t end = std::min(first + block, all.size());
      forth = first == 0 ? span_of(all, 0, end) : DealtSpan::joined(forth, span_of(all, first, end));
      ASSERT_TRUE(forth == span_of(all, 0, end)) << "round " << round << ", to " << end;
    }
  }
}

TEST(DealtWords, JoinsNothingToWhatIsThere) {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    const std::vector<Element> all = random_elements(random);
    const std::size_t first = random() % all.size();
    const DealtSpan span = span_of(all, first, first + 1 + random() % (all.size() - first));
    EXPECT_TRUE(DealtSpan::joined(span, {}) == span);
    EXPECT_TRUE(DealtSpan::joined({}, span) == span);
  }
}

template <class Word, class Bits>
void expect_told(std::uint32_t elements, std::uint32_t pieces, Bits more) {
  for (int flags = 0; flags < 8; ++flags) {
    const DealtSpan span{elements, pieces, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0};
    const Bits word = Word::of(span) | more;
    EXPECT_NE(word, Bits{0});
    EXPECT_TRUE(Word::span(word) == span) << elements << ", " << pieces << ", " << flags;
  }
}

TEST(DealtWords, TellTheFewestAndTheMost) {
  expect_told<BlockWord>(0, 0, std::uint32_t{0});
  expect_told<BlockWord>(BlockWord::kMostElements, 1, std::uint32_t{0});
  expect_told<BlockWord>(1, BlockWord::kMostPieces, std::uint32_t{0});
  for (const GroupBits all : {GroupBits{0}, GroupWord::kAll}) {
    expect_told<GroupWord>(0, 0, all);
    expect_told<GroupWord>(static_cast<std::uint32_t>(kMostDealt), 1, all);
    expect_told<GroupWord>(static_cast<std::uint32_t>(kMostDealt), static_cast<std::uint32_t>(kMostDealtRows),
                           all);
  }
  EXPECT_EQ(GroupWord::of({}) & GroupWord::kAll, GroupBits{0});
}

}  // namespace
}  // namespace tessera::cuda
