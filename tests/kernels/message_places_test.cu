// Places of rows' messages in their bins, each row's tile after tile: on a device where one answers, and of
// the plain loop that stands for it in host memory.
#include "kernels/cuda/message_places.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

/// What a build knows of some bins before their places are listed.
struct Bins {
  std::uint32_t num_tiles = 0;
  std::vector<std::uint32_t> bin_rows{0}, before_row{0}, cell_firsts, ends_by_bin;
  std::vector<VertexId> rows;

  std::uint32_t num_bins() const { return static_cast<std::uint32_t>(bin_rows.size() - 1); }
  /// Up to the last that has messages.
  std::uint32_t num_rows() const {
    return rows.empty() ? 0 : *std::max_element(rows.begin(), rows.end()) + 1;
  }
};

/// counts[row][tile]: messages. rows_of_bin: of each bin.
Bins make_bins(const std::vector<std::vector<std::uint32_t>>& counts,
               const std::vector<std::uint32_t>& rows_of_bin, unsigned seed) {
  std::mt19937 random(seed);
  Bins bins;
  bins.num_tiles = static_cast<std::uint32_t>(counts[0].size());
  for (const std::uint32_t count : rows_of_bin) bins.bin_rows.push_back(bins.bin_rows.back() + count);
  for (const auto& of_row : counts)
    bins.before_row.push_back(std::accumulate(of_row.begin(), of_row.end(), bins.before_row.back()));
  for (std::uint32_t tile = 0; tile < bins.num_tiles; ++tile)
    for (std::uint32_t bin = 0; bin < bins.num_bins(); ++bin) {
      // Those of a piece are neighbours when they are cut; a sort by length spreads them.
      const auto first = static_cast<std::uint32_t>(bins.rows.size());
      bins.cell_firsts.push_back(first);
      for (std::uint32_t row = bins.bin_rows[bin]; row < bins.bin_rows[bin + 1]; ++row)
        bins.rows.insert(bins.rows.end(), counts[row][tile], row);
      std::shuffle(bins.rows.begin() + first, bins.rows.end(), random);
    }
  bins.cell_firsts.push_back(static_cast<std::uint32_t>(bins.rows.size()));
  std::uint32_t sum = 0;
  for (std::uint32_t bin = 0; bin < bins.num_bins(); ++bin)
    for (std::uint32_t tile = 0; tile < bins.num_tiles; ++tile) {
      const std::size_t cell = std::size_t{tile} * bins.num_bins() + bin;
      sum += bins.cell_firsts[cell + 1] - bins.cell_firsts[cell];
      bins.ends_by_bin.push_back(sum);
    }
  return bins;
}

/// By the definition: place p of a bin is its p-th message, tile after tile.
std::vector<std::uint16_t> expected_places(const Bins& bins) {
  std::vector<std::vector<std::uint16_t>> of_row(bins.before_row.size() - 1);
  for (std::uint32_t bin = 0; bin < bins.num_bins(); ++bin)
    for (std::uint32_t tile = 0, place = 0; tile < bins.num_tiles; ++tile) {
      const std::size_t cell = std::size_t{tile} * bins.num_bins() + bin;
      for (std::uint32_t i = bins.cell_firsts[cell]; i < bins.cell_firsts[cell + 1]; ++i)
        of_row[bins.rows[i]].push_back(static_cast<std::uint16_t>(place++));
    }
  std::vector<std::uint16_t> places;
  for (const auto& row : of_row) places.insert(places.end(), row.begin(), row.end());
  return places;
}

/// usual_rows, most_messages: that a block has room for.
template <class Memory>
std::vector<std::uint16_t> listed_places(const Bins& bins, std::uint32_t usual_rows,
                                         std::uint32_t most_messages) {
  const auto cell_firsts = Memory::template from_host<std::uint32_t>(bins.cell_firsts),
             ends_by_bin = Memory::template from_host<std::uint32_t>(bins.ends_by_bin),
             before_row = Memory::template from_host<std::uint32_t>(bins.before_row);
  const auto rows = Memory::template from_host<VertexId>(bins.rows);
  std::vector<BinEdge> edges;
  for (const std::uint32_t row : bins.bin_rows) edges.push_back({row, bins.before_row[row]});
  const auto bin_edges = Memory::template from_host<BinEdge>(edges);
  const std::uint64_t count = bins.rows.size();
  auto places = offsets_with_room<Memory>(count);
  const std::uint64_t with_room = round_up<std::uint64_t>(count, kOffsetsAtOnce);
  Memory::fill(places.data(), kPoison, with_room * sizeof(std::uint16_t));
  BuildVector<Memory, std::uint32_t> listed(bins.before_row.size());
  Memory::fill(listed.data(), kPoison, listed.size() * sizeof(std::uint32_t));
  list_places<Memory>({bins.num_tiles, bins.num_bins(), static_cast<std::uint32_t>(count), cell_firsts.data(),
                       ends_by_bin.data(), rows.data()},
                      {bin_edges, bins.num_rows(), before_row, usual_rows, most_messages, listed.data()},
                      places.data(), nullptr);
  std::vector<std::uint16_t> found = Memory::to_host(places.data(), with_room);
  for (std::uint64_t i = count; i < found.size(); ++i) EXPECT_EQ(found[i], 0u) << "behind the last";
  found.resize(count);
  return found;
}

void expect_listed(const Bins& bins) {
  const auto expected = expected_places(bins);
  EXPECT_EQ(listed_places<HostMemory>(bins, 1, 65535), expected);
  if (num_devices() == 0) return;
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t bin = 0; bin < bins.num_bins(); ++bin)
    sizes.push_back(bins.before_row[bins.bin_rows[bin + 1]] - bins.before_row[bins.bin_rows[bin]]);
  const std::uint32_t most = *std::max_element(sizes.begin(), sizes.end());
  EXPECT_EQ(listed_places<DeviceMemory>(bins, 16384, most), expected);
  EXPECT_EQ(listed_places<DeviceMemory>(bins, 3, most), expected) << "rows outside of shared memory";
  EXPECT_EQ(listed_places<DeviceMemory>(bins, 3, 1u << 20), expected) << "places, too";
}

std::vector<std::vector<std::uint32_t>> random_counts(std::size_t rows, std::size_t tiles, unsigned most,
                                                      unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<std::uint32_t>> counts(rows, std::vector<std::uint32_t>(tiles));
  for (auto& of_row : counts) {
    const unsigned one_in = 1 + random() % 20;
    for (auto& count : of_row) count = random() % one_in == 0 ? 1 + random() % most : 0;
    of_row[random() % tiles] |= 1;
  }
  return counts;
}

TEST(MessagePlaces, OneMessageOfARowInATile) {
  expect_listed(make_bins(random_counts(3000, 37, 1, 1), {1, 999, 1500, 500}, 1));
}

TEST(MessagePlaces, PiecesOfSeveralMessages) {
  expect_listed(make_bins(random_counts(400, 50, 4, 2), {3, 97, 250, 50}, 2));
}

TEST(MessagePlaces, ManyTilesOfFewMessages) {
  expect_listed(make_bins(random_counts(40, 1500, 1, 3), {10, 20, 10}, 3));
}

/// Several for each block, of which some have more rows than are usual.
TEST(MessagePlaces, ManyBins) {
  std::vector<std::uint32_t> rows_of_bin;
  for (int bin = 0; bin < 400; ++bin) rows_of_bin.push_back(bin % 5 == 0 ? 2 : 12);
  expect_listed(make_bins(random_counts(80 * 2 + 320 * 12, 12, 2, 6), rows_of_bin, 6));
}

TEST(MessagePlaces, AsManyMessagesAsABinMayHave) {
  std::vector<std::vector<std::uint32_t>> counts(4, std::vector<std::uint32_t>(3));
  counts[0] = {20000, 5, 45530};  // 65,535, a row's alone
  counts[1] = {0, 1, 0};
  counts[2] = {30000, 2, 30000};
  counts[3] = {1, 1, 1};
  expect_listed(make_bins(counts, {1, 1, 2}, 4));
}

TEST(MessagePlaces, RowsWithoutMessagesHaveNone) {
  auto counts = random_counts(100, 9, 2, 5);
  for (std::size_t row = 0; row < counts.size(); row += 3) counts[row].assign(9, 0);
  expect_listed(make_bins(counts, {50, 50}, 5));
}

/// As many as no block has room for.
TEST(MessagePlaces, RowsBehindTheLastThatHasSomeHaveNone) {
  auto counts = random_counts(200, 9, 2, 7);
  counts.resize(70200, std::vector<std::uint32_t>(9));
  expect_listed(make_bins(counts, {90, 70110}, 7));
}

TEST(MessagePlaces, FewHaveMoreThanUsual) {
  EXPECT_EQ(most_usual({}), 0u);
  EXPECT_EQ(most_usual({7}), 7u);
  EXPECT_EQ(most_usual({5, 1, 4, 2, 3, 9, 8, 7, 6, 1000}), 1000u);  // the last of ten
  EXPECT_EQ(most_usual({5, 1, 4, 2, 3, 9, 8, 7, 6, 1000, 2000}), 1000u);
}

}  // namespace
}  // namespace tessera::cuda
