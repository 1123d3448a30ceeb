// How threads share the filling of words, by the host; and words of slices of all kinds as they are cut and
// filled at once, against those of slices one by one (in host memory, and on a device where one answers).
#include "kernels/cuda/part_filler.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "kernels/cuda/word_filler.cuh"
#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

template <unsigned kWords>
void expect_words_apart() {
  using Staged = StagedWords<kWords>;
  constexpr std::uint32_t kFirst = 7 * kStagedBytes;
  const Staged staged{kFirst};
  std::set<SharedAddress> all;
  for (unsigned k = 0; k < kWords; ++k)
    for (unsigned lane = 0; lane < Staged::kLanes; ++lane) {
      std::set<SharedAddress> banks;
      for (unsigned part = 0; part < 32; ++part) {
        const SharedAddress at = Staged::at(staged.part(part), k, lane);
        EXPECT_TRUE(at >= kFirst + part * kStagedBytes && at < kFirst + (part + 1) * kStagedBytes);
        all.insert(at);
        banks.insert(at / 4 % 32);
      }
      EXPECT_EQ(banks.size(), 32u) << "threads with a part each, word " << k << " of lane " << lane;
    }
  EXPECT_EQ(all.size(), 32 * kWords * Staged::kLanes);
  for (unsigned k = 0; k < kWords; ++k)
    for (unsigned first = 0; first < 32; first += Staged::kParts) {
      std::set<SharedAddress> banks;
      for (unsigned thread = 0; thread < 32; ++thread)
        banks.insert(Staged::at(staged.part(first + thread / Staged::kLanes), k, thread % Staged::kLanes) /
                     4 % 32);
      EXPECT_EQ(banks.size(), 32u) << "threads with a lane each, word " << k << " of parts from " << first;
    }
}
TEST(PartFiller, ThreadsAskDifferentBanks) {
  expect_words_apart<1>();
  expect_words_apart<2>();
  expect_words_apart<3>();
  expect_words_apart<4>();
}

template <class Elements>
void expect_words(const std::uint16_t* offsets, const ListedRow& row, std::uint32_t first_in_row,
                  std::uint32_t lane, unsigned num_words) {
  constexpr std::uint32_t kPadding = 60000;
  Elements loaded;
  loaded.load(offsets, row, Elements::first(first_in_row, lane));
  bool are_all = true;
  for (unsigned k = 0; k < num_words; ++k) {
    const std::uint32_t word = Elements::kAreJoint ? (first_in_row + k) * 32 + lane : first_in_row + k;
    const auto expected = [&](std::uint32_t i) -> std::uint32_t {
      are_all = are_all && i < row.length;
      return i < row.length ? offsets[row.begin + i] : kPadding;
    };
    const std::uint32_t both = expected(2 * word) | expected(2 * word + 1) << 16;
    ASSERT_EQ(loaded.word(k, kPadding), both)
        << num_words << " words, " << row.length << " elements from " << row.begin << ", word " << word;
    if (are_all) {
      ASSERT_EQ(loaded.word(k), both)
          << num_words << " words, " << row.length << " elements from " << row.begin << ", word " << word;
    }
  }
  ASSERT_EQ(loaded.are_all(), are_all) << num_words << " words, " << row.length << " elements";
}
template <unsigned kWords>
void expect_lane_words() {
  alignas(8) std::uint16_t offsets[512];
  for (unsigned i = 0; i < 512; ++i) offsets[i] = static_cast<std::uint16_t>(100 * i + 7);
  for (std::uint32_t begin = 0; begin < 9; ++begin)
    for (std::uint32_t length = 1; length < 40; ++length)
      for (std::uint32_t first_in_row = 0; first_in_row < 8; first_in_row += 4)
        for (const std::uint32_t lane : {0u, 1u, 5u}) {
          expect_words<RowElements<kWords>>(offsets, {begin, length}, first_in_row, lane, kWords);
          for (const std::uint32_t joint_length : {5 * length, 12 * length, 12 * length + 1})
            expect_words<JointElements<kWords>>(offsets, {begin, joint_length}, first_in_row, lane, kWords);
        }
}
TEST(PartFiller, LanesHaveTheElementsOfTheirWords) {
  expect_lane_words<1>();
  expect_lane_words<2>();
  expect_lane_words<3>();
  expect_lane_words<4>();
}

/// Rows of some groups, longest first, and their elements, which lie in another order with gaps between them.
template <class S>
struct Rows {
  std::uint32_t padding = 3000;
  std::vector<std::uint32_t> firsts{0}, out;
  std::vector<std::uint16_t> lengths, offsets;
  std::vector<std::uint64_t> begins;
  std::vector<S> values;

  Rows(std::size_t num_groups, std::uint32_t most, unsigned seed) {
    std::mt19937 random(seed);
    for (std::size_t g = 0; g < num_groups; ++g) {
      const std::uint32_t longest = random() % 4 == 0 ? most : 1 + random() % 12;
      const auto first = static_cast<std::ptrdiff_t>(lengths.size());
      if (g % 5 == 4) lengths.insert(lengths.end(), 40, 512);  // joint, none of whose words has padding
      for (auto left = random() % 300; left > 0; --left)
        lengths.push_back(static_cast<std::uint16_t>(1 + random() % (random() % 2 == 0 ? 3 : longest)));
      std::sort(lengths.begin() + first, lengths.end(), std::greater<>());
      out.push_back(firsts.back());
      firsts.push_back(static_cast<std::uint32_t>(lengths.size()));
    }
    std::vector<std::size_t> order(lengths.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    begins.resize(lengths.size());
    for (const std::size_t i : order) {
      offsets.resize(offsets.size() + random() % 3, 65535);
      begins[i] = offsets.size();
      for (std::uint32_t k = 0; k < lengths[i]; ++k)
        offsets.push_back(static_cast<std::uint16_t>(random() % padding));
    }
    for (std::size_t i = 0; i < offsets.size(); ++i) values.push_back(static_cast<S>(random() % 1000003));
  }
};

template <class S>
struct Filled {
  std::vector<Slice> slices;
  std::vector<std::uint32_t> words;
  std::vector<S> values;
};

template <unsigned kThreads, class Memory, class S>
Filled<S> filled_at_once(const Rows<S>& rows, bool weighted) {
  const auto firsts = Memory::template from_host<std::uint32_t>(rows.firsts),
             out = Memory::template from_host<std::uint32_t>(rows.out);
  const auto lengths = Memory::template from_host<std::uint16_t>(rows.lengths);
  const auto begins = Memory::template from_host<std::uint64_t>(rows.begins);
  auto offsets = offsets_with_room<Memory>(rows.offsets.size());
  Memory::upload(rows.offsets.data(), offsets.data(), rows.offsets.size() * sizeof(std::uint16_t));
  std::uint16_t* const to = offsets.data();
  const std::uint64_t num_offsets = offsets.size();
  Memory::each(1, [=] __host__ __device__(std::uint64_t) { clear_behind(to, num_offsets); });
  const auto values = Memory::template from_host<S>(rows.values);
  const auto num_groups = static_cast<std::uint32_t>(rows.out.size());
  BuildVector<Memory, Window> windows(num_groups + std::uint64_t{1});
  const SliceGroups groups{.num_groups = num_groups,
                           .groups_of_window = 1,
                           .num_rows = rows.lengths.size(),
                           .num_elements = rows.offsets.size(),
                           .first = firsts.data(),
                           .lengths = lengths.data(),
                           .out = out.data(),
                           .windows = windows.data()};
  SideStream<Memory> side;
  const auto cut = std::move(SliceCutter<Memory>(groups, groups, side).cut()[1]);
  const std::uint64_t* begin = begins.data();
  const std::uint16_t* length = lengths.data();
  const std::uint32_t padding = rows.padding;
  const auto row_of = [=] __host__ __device__(std::uint32_t i) -> ListedRow { return {begin[i], length[i]}; };
  const auto padding_of = [=] __host__ __device__(std::uint64_t) { return padding; };
  const WordSource<S, decltype(row_of), decltype(padding_of)> source{
      cut.slices.data(), cut.first_rows.data(), offsets.data(), values.data(), row_of, padding_of};
  BuildVector<Memory, std::uint32_t> words(cut.sizes.words);
  BuildVector<Memory, S> of_words(weighted ? 2 * cut.sizes.words : 0);
  if (weighted) fill_values<Memory>(cut, source, of_words.data());
  BuildVector<Memory, Slice> slices(cut.slices.size());
  BuildVector<Memory, NumberedPart> parts(cut.sizes.parts.all());
  list_parts_by<kThreads>(cut, source, words.data(), slices.data(), parts.data(), nullptr);
  fill_parts<Memory>(parts, source, words.data(), of_words.data());
  return {Memory::to_host(slices.data(), slices.size()), Memory::to_host(words.data(), words.size()),
          Memory::to_host(of_words.data(), of_words.size())};
}

/// Numbers from some on.
struct NumbersFrom {
  const std::uint16_t* first;
  __host__ __device__ std::uint16_t operator()(std::uint64_t i) const { return first[i]; }
};

/// Slice after slice, row after row.
template <class S>
Filled<S> filled_one_by_one(const Rows<S>& rows, bool weighted) {
  Filled<S> result;
  for (std::size_t g = 0; g < rows.out.size(); ++g)
    for (std::uint32_t row = rows.firsts[g]; row < rows.firsts[g + 1];) {
      Slice slice = next_slice(rows.firsts[g + 1] - row, NumbersFrom{rows.lengths.data() + row});
      slice.first_word = result.words.size();
      slice.first_out = rows.out[g] + (row - rows.firsts[g]);
      result.slices.push_back(slice);
      result.words.resize(slice.first_word + aligned_words(slice));
      if (weighted) result.values.resize(2 * result.words.size());
      for (std::uint32_t r = 0; r < rows_of(slice); ++r, ++row) {
        fill_slice_row(slice, r, rows.lengths[row], rows.padding,
                       NumbersFrom{rows.offsets.data() + rows.begins[row]}, result.words.data());
        for (std::uint32_t k = 0; weighted && k < rows.lengths[row]; ++k) {
          const ElementPlace place = element_place(slice, r, k);
          result.values[2 * place.word + place.half] = rows.values[rows.begins[row] + k];
        }
      }
      arrange_slice<S>(slice, rows.padding, result.words.data(), weighted ? result.values.data() : nullptr);
    }
  return result;
}

template <class S>
void expect_same(const Filled<S>& found, const Filled<S>& expected, unsigned seed) {
  ASSERT_EQ(found.slices.size(), expected.slices.size()) << "seed " << seed;
  for (std::size_t s = 0; s < found.slices.size(); ++s) {
    ASSERT_EQ(found.slices[s].first_word, expected.slices[s].first_word)
        << "seed " << seed << ", slice " << s;
    ASSERT_EQ(found.slices[s].num_words, expected.slices[s].num_words) << "seed " << seed << ", slice " << s;
    ASSERT_EQ(found.slices[s].num_rows, expected.slices[s].num_rows) << "seed " << seed << ", slice " << s;
    ASSERT_EQ(found.slices[s].first_out, expected.slices[s].first_out) << "seed " << seed << ", slice " << s;
  }
  ASSERT_EQ(found.words, expected.words) << "seed " << seed;
  ASSERT_EQ(found.values, expected.values) << "seed " << seed;
}

template <class S>
class WordFiller : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(WordFiller, Precisions);

TYPED_TEST(WordFiller, GivesTheWordsOfSlicesOneByOne) {
  for (unsigned seed = 1; seed <= 12; ++seed)
    for (const bool weighted : {false, true}) {
      // One group of few rows; groups whose parts fill many warps, the last not; joint rows of several parts.
      const Rows<TypeParam> rows(seed % 4 == 1 ? 1 : 10 * seed, seed % 2 == 0 ? 700 : 60, seed);
      const auto expected = filled_one_by_one(rows, weighted);
      expect_same(filled_at_once<kSliceThreads, HostMemory>(rows, weighted), expected, seed);
      expect_same(filled_at_once<kMoreSliceThreads, HostMemory>(rows, weighted), expected, seed);
      if (num_devices() == 0) continue;
      expect_same(filled_at_once<kSliceThreads, DeviceMemory>(rows, weighted), expected, seed);
      expect_same(filled_at_once<kMoreSliceThreads, DeviceMemory>(rows, weighted), expected, seed);
    }
}

}  // namespace
}  // namespace tessera::cuda
