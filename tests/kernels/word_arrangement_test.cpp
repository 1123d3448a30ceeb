// Arranging words of a slice: each row keeps its elements and its sum, bit for bit; gathers meet less.
#include "kernels/word_arrangement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <type_traits>
#include <vector>

#include "kernels/slice_builder.hpp"

namespace tessera {
namespace {

constexpr std::uint32_t kPadding = 5000;  // of a window of so many columns

/// A slice by itself, rows of random length up to its words filled with random offsets.
template <class S>
struct Filled {
  Slice slice;
  std::vector<std::uint32_t> words;
  std::vector<S> values;

  Filled(const Slice& shape, unsigned seed) : slice(shape) {
    slice.first_word = kSliceAlignment;
    const std::uint32_t most = elements_of(slice), least = is_joint(slice) ? kJointLength : 2 * most / 3;
    std::mt19937 random(seed);
    words.assign(slice.first_word + aligned_words(slice), 0xdeadbeef);
    values.resize(2 * words.size());
    for (S& value : values) value = static_cast<S>(random() % 1000003) / 977;
    for (std::uint32_t row = 0; row < rows_of(slice); ++row) {
      const std::uint32_t length = least + random() % (most - least + 1);
      fill_slice_row(
          slice, row, length, kPadding,
          [&](std::uint32_t) { return static_cast<std::uint16_t>(random() % kPadding); }, words.data());
    }
  }
  void arrange() { arrange_slice(slice, kPadding, words.data(), values.data()); }

  /// Word k of a lane of a joint row, or of a row.
  std::uint64_t word_of(std::uint32_t lane, std::uint32_t k) const {
    return is_joint(slice) ? slice_word(slice, 0, k * kSliceLanes + lane) : slice_word(slice, lane, k);
  }
  std::uint32_t num_lanes() const { return is_joint(slice) ? kSliceLanes : slice.num_rows; }
  /// Elements of a lane, in the order in which they are gathered: offset and value.
  std::vector<std::pair<std::uint32_t, S>> elements(std::uint32_t lane) const {
    std::vector<std::pair<std::uint32_t, S>> result;
    for (std::uint32_t k = 0; k < slice.num_words; ++k)
      for (std::uint32_t half = 0; half < 2; ++half) {
        const std::uint64_t word = word_of(lane, k);
        result.emplace_back(offset_at(words.data(), {word, half}), values[2 * word + half]);
      }
    return result;
  }
  /// Turns that the banks take for all gathers of the slice.
  int turns() const {
    int sum = 0;
    for (std::uint32_t first = 0; first < num_lanes(); first += kBankLanes<S>)
      for (std::uint32_t i = 0; i < 2 * slice.num_words; ++i) {
        std::map<std::uint32_t, std::set<std::uint32_t>> asked;  // of each bank: offsets
        for (std::uint32_t lane = first; lane < std::min(first + kBankLanes<S>, num_lanes()); ++lane) {
          const std::uint32_t offset = elements(lane)[i].first;
          asked[offset % kBankLanes<S>].insert(offset);
        }
        std::size_t most = 0;
        for (const auto& [bank, offsets] : asked) most = std::max(most, offsets.size());
        sum += static_cast<int>(most);
      }
    return sum;
  }
};

/// A lane's sum as the form asks for it, written from its text.
template <class S>
double lane_sum(const std::vector<std::pair<std::uint32_t, S>>& elements) {
  const auto pair = [&](std::size_t word) {
    const auto& [low, low_value] = elements[2 * word];
    const auto& [high, high_value] = elements[2 * word + 1];
    return static_cast<double>(low_value) * (1.0 / (1 + low)) +
           static_cast<double>(high_value) * (1.0 / (1 + high));
  };
  const std::size_t num_words = elements.size() / 2;
  double sum = 0;
  for (std::size_t word = 0; word < num_words; word += 4) {
    const std::size_t left = num_words - word;
    if (left == 1)
      sum += pair(word);
    else if (left == 2)
      sum += pair(word) + pair(word + 1);
    else if (left == 3)
      sum += (pair(word) + pair(word + 1)) + pair(word + 2);
    else
      sum += (pair(word) + pair(word + 1)) + (pair(word + 2) + pair(word + 3));
  }
  return sum;
}

Slice shape_of(std::uint16_t num_words, std::uint16_t num_rows) {
  return {.num_words = num_words, .num_rows = num_rows};
}
const Slice kShapes[] = {shape_of(1, 256), shape_of(2, 77), shape_of(3, 64),  shape_of(4, 31),
                         shape_of(6, 32),  shape_of(15, 9), shape_of(63, 32), shape_of(2, 0),
                         shape_of(5, 0),   shape_of(16, 0)};

template <class S>
class WordArrangement : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(WordArrangement, Precisions);

TYPED_TEST(WordArrangement, LanesKeepTheirElementsWithTheirValues) {
  for (const Slice& shape : kShapes) {
    Filled<TypeParam> filled(shape, 1);
    const Filled<TypeParam> before = filled;
    filled.arrange();
    for (std::uint32_t lane = 0; lane < filled.num_lanes(); ++lane) {
      auto expected = before.elements(lane), found = filled.elements(lane);
      std::sort(expected.begin(), expected.end());
      std::sort(found.begin(), found.end());
      ASSERT_EQ(found, expected) << shape.num_words << " words, lane " << lane;
    }
  }
}

TYPED_TEST(WordArrangement, SumsOfLanesKeepTheirBits) {
  for (const Slice& shape : kShapes) {
    Filled<TypeParam> filled(shape, 2);
    const Filled<TypeParam> before = filled;
    filled.arrange();
    for (std::uint32_t lane = 0; lane < filled.num_lanes(); ++lane)
      ASSERT_EQ(lane_sum(filled.elements(lane)), lane_sum(before.elements(lane))) << shape.num_words;
  }
}

TYPED_TEST(WordArrangement, WhatLiesAroundTheSliceStays) {
  for (const Slice& shape : kShapes) {
    Filled<TypeParam> filled(shape, 3);
    const Filled<TypeParam> before = filled;
    filled.arrange();
    const std::uint64_t end = filled.slice.first_word + words_of(filled.slice);
    for (std::uint64_t word = 0; word < filled.words.size(); ++word) {
      if (word >= filled.slice.first_word && word < end) continue;
      ASSERT_EQ(filled.words[word], before.words[word]);
      for (const std::uint64_t value : {2 * word, 2 * word + 1})
        ASSERT_EQ(filled.values[value], before.values[value]);
    }
  }
}

TYPED_TEST(WordArrangement, PaddingIsNotARowsFirst) {
  for (const Slice& shape : kShapes)
    for (unsigned seed = 0; seed < 20; ++seed) {
      Filled<TypeParam> filled(shape, seed);
      filled.arrange();
      for (std::uint32_t row = 0; row < rows_of(filled.slice); ++row)
        ASSERT_NE(offset_at(filled.words.data(), element_place(filled.slice, row, 0)), kPadding);
    }
}

TYPED_TEST(WordArrangement, GathersMeetLess) {
  for (const auto& [num_words, num_rows, most_percent] :
       {std::tuple{63, 32, 75}, {16, 0, 75}, {4, 256, 80}, {2, 256, 86}, {1, 256, 92}}) {
    Filled<TypeParam> filled(
        shape_of(static_cast<std::uint16_t>(num_words), static_cast<std::uint16_t>(num_rows)), 4);
    const int before = filled.turns();
    filled.arrange();
    EXPECT_LT(100 * filled.turns(), most_percent * before) << num_words << " words";
  }
}

TEST(ArrangedParts, CoverTheWordsOfASliceOnce) {
  for (Slice slice : kShapes) {
    slice.first_word = 16;
    std::vector<int> seen(words_of(slice), 0);
    for (std::uint32_t i = 0; i < num_arranged_parts(slice); ++i) {
      const ArrangedPart part = ArrangedPart::of(slice, i);
      ASSERT_LE(part.num_words, kArrangedWords);
      ASSERT_LE(part.num_lanes, kSliceLanes);
      for (std::uint32_t lane = 0; lane < part.num_lanes; ++lane)
        for (std::uint32_t k = 0; k < part.num_words; ++k)
          ++seen.at(part.first_word + part.word(lane, k) - slice.first_word);
    }
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << slice.num_words << " words";
  }
}

/// So that 32 bits number the parts of 2^34 words (kernels/cuda/slice_sizes.cuh).
TEST(ArrangedParts, AreAFourthOfTheAlignedWordsAtMost) {
  for (unsigned words = 1; words <= 1024; ++words) {
    const auto num_words = static_cast<std::uint16_t>(words);
    ASSERT_LE(4 * num_arranged_parts({.num_words = num_words}), aligned_words({.num_words = num_words}));
    for (unsigned rows = 1; rows <= (words <= kShortWords ? kShortSliceRows : kSliceLanes); ++rows) {
      const Slice slice{.num_words = num_words, .num_rows = static_cast<std::uint16_t>(rows)};
      ASSERT_LE(4 * num_arranged_parts(slice), aligned_words(slice))
          << words << " words, " << rows << " rows";
    }
  }
}

/// Its elements before it is arranged are those of element_at().
TEST(ArrangedParts, TellWhichElementsTheyHave) {
  for (Slice slice : kShapes) {
    slice.first_word = 16;
    for (std::uint32_t i = 0; i < num_arranged_parts(slice); ++i) {
      const ArrangedPart part = ArrangedPart::of(slice, i);
      for (std::uint32_t lane = 0; lane < part.num_lanes; ++lane)
        for (std::uint32_t k = 0; k < part.num_words; ++k) {
          const SliceElement low = element_at(slice, {part.first_word + part.word(lane, k), 0});
          ASSERT_EQ(part.row(lane), low.row) << slice.num_words << " words, part " << i;
          ASSERT_EQ(2 * part.word_of_row(lane, k), low.k) << slice.num_words << " words, part " << i;
        }
    }
  }
}

/// A part's words are those of slice_word(), of rows that follow each other.
TEST(ArrangedParts, LieAsTheLayoutSays) {
  const Slice slice{.first_word = 8, .num_words = 6, .num_rows = 77};  // blocks of 32, 32, 13 rows
  const ArrangedPart part = ArrangedPart::of(slice, 5);                // the last: its words 4 and 5
  ASSERT_EQ(part.num_lanes, 13u);
  ASSERT_EQ(part.num_words, 2u);
  for (std::uint32_t lane = 0; lane < 13; ++lane)
    for (std::uint32_t k = 0; k < 2; ++k)
      EXPECT_EQ(part.first_word + part.word(lane, k), slice_word(slice, 64 + lane, 4 + k));
}

/// Lanes before that ask a bank, in one gather: 0, 1, 2, 3 or more cost 0, 1, 5, 13, 15.
class Asked {
 public:
  void add(std::size_t gather, std::uint32_t bank) { ++counts_[{gather, bank}]; }
  int cost(std::size_t gather, std::uint32_t bank) const {
    constexpr int kCosts[] = {0, 1, 5, 13, 15};
    const auto found = counts_.find({gather, bank});
    return found == counts_.end() ? 0 : kCosts[std::min(found->second, 4)];
  }

 private:
  std::map<std::pair<std::size_t, std::uint32_t>, int> counts_;
};

/// All 128 orders of the elements of a lane with four words, each element as it is gathered; where there are
/// fewer words, those that leave padding behind them.
std::vector<std::vector<std::uint32_t>> orders_of(const std::vector<std::uint32_t>& elements) {
  std::vector<std::vector<std::uint32_t>> orders;
  const auto num_words = static_cast<unsigned>(elements.size() / 2);
  for (unsigned choice = 0; choice < 128; ++choice) {
    std::vector<unsigned> words;
    for (unsigned place = 0; place < num_words; ++place) words.push_back(place);
    if ((choice & 1) != 0 && num_words == 4) words = {2, 3, 0, 1};
    if ((choice & 2) != 0 && num_words > 1) std::swap(words[0], words[1]);
    if ((choice & 4) != 0 && num_words == 4) std::swap(words[2], words[3]);
    std::vector<std::uint32_t> order;
    for (unsigned place = 0; place < num_words; ++place) {
      const bool turns = (choice >> (3 + place) & 1) != 0;
      order.push_back(elements[2 * words[place] + (turns ? 1 : 0)]);
      order.push_back(elements[2 * words[place] + (turns ? 0 : 1)]);
    }
    orders.push_back(order);
  }
  return orders;
}

TYPED_TEST(WordArrangement, EachLaneTakesTheOrderThatMeetsTheLanesBeforeLeast) {
  std::mt19937 random(6);
  for (unsigned num_words = 1; num_words <= kArrangedWords; ++num_words) {
    ScratchWords<kBankLanes<TypeParam>> banks;
    LaneArranger<TypeParam, kArrangedWords, ScratchWords<kBankLanes<TypeParam>>> arranger(num_words, kPadding,
                                                                                          banks);
    arranger.begin();
    Asked asked;
    const auto cost_of = [&](const std::vector<std::uint32_t>& order) {
      int cost = 0;
      for (std::size_t i = 0; i < order.size(); ++i)
        if (order[i] != kPadding) cost += asked.cost(i, order[i] % kBankLanes<TypeParam>);
      return cost;
    };
    for (unsigned lane = 0; lane < kBankLanes<TypeParam>; ++lane) {
      std::vector<std::uint32_t> elements(2 * num_words);
      for (std::size_t i = 0; i < elements.size(); ++i)
        elements[i] = i > 0 && random() % 5 == 0 ? kPadding : random() % kPadding;
      int least = std::numeric_limits<int>::max();
      for (const std::vector<std::uint32_t>& order : orders_of(elements))
        if (order[0] != kPadding) least = std::min(least, cost_of(order));
      std::uint32_t words[kArrangedWords];
      for (std::size_t i = 0; i < kArrangedWords; ++i)
        words[i] = i < num_words ? elements[2 * i] | elements[2 * i + 1] << 16 : kPadding | kPadding << 16;
      const auto order = arranger.next(words);
      std::vector<std::uint32_t> found(elements.size());
      for (unsigned i = 0; i < elements.size(); ++i) found[order.shift(i / 2, i % 2) / 4] = elements[i];
      ASSERT_EQ(cost_of(found), least) << num_words << " words, lane " << lane;
      for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i] != kPadding) asked.add(i, found[i] % kBankLanes<TypeParam>);
    }
  }
}

/// The orders that an arranger of up to kWords words gives lanes of num_words words.
template <class S, unsigned kWords>
std::vector<std::vector<std::uint32_t>> orders_given(unsigned num_words, unsigned seed) {
  std::mt19937 random(seed);
  ScratchWords<kBankLanes<S>> banks;
  LaneArranger<S, kWords, ScratchWords<kBankLanes<S>>> arranger(num_words, kPadding, banks);
  arranger.begin();
  std::vector<std::vector<std::uint32_t>> orders;
  for (unsigned lane = 0; lane < kBankLanes<S>; ++lane) {
    std::uint32_t words[kWords];
    for (unsigned k = 0; k < kWords; ++k) words[k] = kPadding | kPadding << 16;
    for (unsigned k = 0; k < num_words; ++k) {
      const std::uint32_t low = random() % 8 == 0 ? kPadding : random() % kPadding;
      const std::uint32_t high = random() % 4 == 0 ? kPadding : random() % kPadding;
      words[k] = low | high << 16;
    }
    const auto order = arranger.next(words);
    std::vector<std::uint32_t> given(num_words, ~0u);
    for (unsigned k = 0; k < num_words; ++k) given.at(order.place(k)) = order.turned(k, words[k]);
    orders.push_back(given);
  }
  return orders;
}

/// What files and other ranks hold was arranged so, ties included: slices of all kinds, hashed (FNV-1a by
/// words) when there was one arranger, of four words.
TYPED_TEST(WordArrangement, OrdersStayWhatTheyWere) {
  std::mt19937 random(7);
  std::uint64_t hash = 14695981039346656037ull;
  const auto add = [&](std::uint64_t part) { hash = (hash ^ part) * 1099511628211ull; };
  for (int i = 0; i < 400; ++i) {
    Slice slice;
    slice.num_words = static_cast<std::uint16_t>(1 + random() % 20);
    const std::uint32_t most_rows = slice.num_words <= kShortWords ? kShortSliceRows : kSliceLanes;
    const bool is_joint = random() % 5 == 0;
    if (!is_joint) slice.num_rows = static_cast<std::uint16_t>(1 + random() % most_rows);
    const std::uint32_t padding = 1 + random() % 49152;
    const std::uint32_t range = i % 3 == 0 ? std::min(padding, 200u) : padding;
    std::vector<std::uint32_t> words(aligned_words(slice));
    std::vector<TypeParam> values(2 * words.size());
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = static_cast<TypeParam>(v);
    for (std::uint32_t row = 0; row < rows_of(slice); ++row) {
      std::vector<std::uint16_t> offsets(1 + random() % elements_of(slice));
      for (std::uint16_t& offset : offsets) offset = static_cast<std::uint16_t>(random() % range);
      fill_slice_row(
          slice, row, offsets.size(), padding, [&](std::uint32_t k) { return offsets[k]; }, words.data());
    }
    arrange_slice(slice, padding, words.data(), values.data());
    for (const std::uint32_t word : words) add(word);
    for (const TypeParam value : values) add(static_cast<std::uint64_t>(value));
  }
  EXPECT_EQ(hash, (std::is_same_v<TypeParam, float> ? 0xbdf26d5eaa3cea5bull : 0xc0056484489019f0ull));
}

TYPED_TEST(WordArrangement, ArrangersOfFewerWordsGiveTheSameOrders) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto one = orders_given<TypeParam, 4>(1, seed), two = orders_given<TypeParam, 4>(2, seed),
               three = orders_given<TypeParam, 4>(3, seed);
    EXPECT_EQ((orders_given<TypeParam, 1>(1, seed)), one);
    EXPECT_EQ((orders_given<TypeParam, 2>(1, seed)), one);
    EXPECT_EQ((orders_given<TypeParam, 3>(1, seed)), one);
    EXPECT_EQ((orders_given<TypeParam, 2>(2, seed)), two);
    EXPECT_EQ((orders_given<TypeParam, 3>(2, seed)), two);
    EXPECT_EQ((orders_given<TypeParam, 3>(3, seed)), three);
  }
}

/// Rows of a mesh whose size is a multiple of 32: all their first elements are in one bank, all their second
/// ones in the next, ... Four words let eight elements take turns at a place, so four lanes a bank are left.
TYPED_TEST(WordArrangement, RowsThatAskTheSameBanksAreSpread) {
  constexpr std::uint32_t kStride = 32, kLanes = kBankLanes<TypeParam>;
  Filled<TypeParam> filled(shape_of(4, kLanes), 5);
  for (std::uint32_t row = 0; row < kLanes; ++row)
    fill_slice_row(
        filled.slice, row, 8, kPadding,
        [&](std::uint32_t k) { return static_cast<std::uint16_t>(row * kStride + k); }, filled.words.data());
  EXPECT_EQ(filled.turns(), static_cast<int>(8 * kLanes));
  filled.arrange();
  EXPECT_EQ(filled.turns(), static_cast<int>(8 * kLanes / 8));
}

/// Two lanes, by hand: each has an element in bank 0 and one in bank 1, so the second turns its word.
TYPED_TEST(WordArrangement, TurnsAWordByHand) {
  const Slice slice = shape_of(1, 2);
  std::vector<std::uint32_t> words = {0u | 1u << 16, 32u | 33u << 16};
  arrange_slice<TypeParam>(slice, kPadding, words.data(), nullptr);
  EXPECT_EQ(words[0], 0u | 1u << 16);
  EXPECT_EQ(words[1], 33u | 32u << 16);
}

TYPED_TEST(WordArrangement, RowsOfOneElementStay) {
  std::vector<std::uint32_t> words(128, 7u | 39u << 16);
  const std::vector<std::uint32_t> before = words;
  arrange_slice<TypeParam>(shape_of(0, 256), kPadding, words.data(), nullptr);
  EXPECT_EQ(words, before);
}

}  // namespace
}  // namespace tessera
