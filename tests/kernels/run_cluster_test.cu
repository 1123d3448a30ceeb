// How the rows of the smallest graphs are dealt to a cluster's blocks; but for whether a device has room for
// them, which skips, visibly, where none answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "kernels/cuda/cuda_spmv.hpp"

namespace tessera::cuda {
namespace {

struct SmallMatrix {
  std::vector<EdgeOffset> row_offsets{0};
  std::vector<VertexId> col_indices;
  std::vector<double> values;
  std::uint32_t num_cols = 0;

  static SmallMatrix of(const std::vector<std::uint32_t>& lengths, std::uint32_t num_cols) {
    SmallMatrix a;
    a.num_cols = num_cols;
    std::mt19937 random(lengths.size());
    for (const std::uint32_t length : lengths) {
      a.row_offsets.push_back(a.row_offsets.back() + length);
      for (std::uint32_t k = 0; k < length; ++k) {
        a.col_indices.push_back(random() % num_cols);
        a.values.push_back(std::uniform_real_distribution<double>(-1, 1)(random));
      }
    }
    return a;
  }
  ClusterDeal deal(bool weighted = false) const {
    return deal_cluster_rows(row_offsets, col_indices, num_cols, weighted);
  }
};

double tree_of(std::array<double, kSumLanes> lanes) {
  for (unsigned distance = 1; distance < kSumLanes; distance *= 2)
    for (unsigned j = 0; j < kSumLanes; j += 2 * distance) lanes[j] += lanes[j + distance];
  return lanes[0];
}

/// As kernels/tile_composite_view.hpp has it.
std::vector<double> expected_sums(const SmallMatrix& a, const std::vector<double>& x) {
  std::vector<double> y;
  for (std::size_t row = 0; row + 1 < a.row_offsets.size(); ++row) {
    double sum = 0;
    for (EdgeOffset chunk = a.row_offsets[row]; chunk < a.row_offsets[row + 1]; chunk += kSumChunk) {
      std::array<double, kSumLanes> lanes{};
      for (EdgeOffset k = chunk; k < std::min(chunk + kSumChunk, a.row_offsets[row + 1]); ++k)
        lanes[(k - chunk) % kSumLanes] += a.values[k] * x[a.col_indices[k]];
      sum += tree_of(lanes);
    }
    y.push_back(sum);
  }
  return y;
}

/// What the lanes of a task add up, one number after the other: 0 where there is no element.
std::vector<double> terms_of(const ClusterDeal& deal, const ClusterBlock& block, const ClusterTask& task,
                             unsigned lane, const SmallMatrix& a, const std::vector<double>& x) {
  std::vector<double> terms;
  for (unsigned e = 0; e < task.num_elements; ++e) {
    const std::size_t at = block.first_word + task.first_word + e / 2 * kWarpLanes + lane;
    const std::uint32_t word = deal.words.at(at), column = e % 2 == 0 ? word & 0xffff : word >> 16,
                        element = deal.elements.at(2 * at + e % 2);
    if (element == kNoClusterElement)
      EXPECT_EQ(column, a.num_cols);
    else
      EXPECT_EQ(column, a.col_indices.at(element));
    terms.push_back(element == kNoClusterElement ? 0 : a.values[element] * x.at(column));
  }
  return terms;
}

/// The lanes of a row or of a chunk, the first of which is `lane`.
double sum_from(const ClusterDeal& deal, const ClusterBlock& block, const ClusterTask& task, unsigned lane,
                const SmallMatrix& a, const std::vector<double>& x) {
  std::array<double, kSumLanes> lanes{};
  if (!task.is_of_chunks) {
    const auto terms = terms_of(deal, block, task, lane, a, x);
    for (std::size_t e = 0; e < terms.size(); ++e) lanes[e % kSumLanes] += terms[e];
    return tree_of(lanes);
  }
  for (unsigned j = 0; j < kSumLanes; ++j)
    for (const double term : terms_of(deal, block, task, lane + j, a, x)) lanes[j] += term;
  return tree_of(lanes);
}

/// By the deal alone.
std::vector<double> dealt_sums(const ClusterDeal& deal, const SmallMatrix& a, const std::vector<double>& x) {
  std::vector<double> y;
  for (unsigned b = 0; b < kClusterBlocks; ++b) {
    const ClusterBlock& block = deal.blocks.at(b);
    const ClusterBlock& next = deal.blocks.at(b + 1);
    EXPECT_LE(next.first_task - block.first_task, deal.most.tasks);
    EXPECT_LE(next.first_word - block.first_word, deal.most.words);
    EXPECT_LE(next.first_row - block.first_row, deal.most.rows);
    constexpr double kNever = 1e300;
    std::vector<double> sums(deal.most.sums, kNever);
    for (std::uint32_t t = block.first_task; t < next.first_task; ++t)
      for (unsigned lane = 0; lane < kWarpLanes; ++lane)
        if (const std::uint16_t to = deal.sum_of_lane.at(t * kWarpLanes + lane); to != kNoClusterSum) {
          EXPECT_EQ(sums.at(to), kNever) << "two lanes have sum " << to;
          sums.at(to) = sum_from(deal, block, deal.tasks.at(t), lane, a, x);
        }
    for (VertexId row = block.first_row; row < next.first_row; ++row) {
      double sum = 0;
      for (unsigned k = 0; k < deal.rows.at(row).num_sums; ++k) sum += sums.at(deal.rows[row].first_sum + k);
      y.push_back(sum);
    }
  }
  return y;
}

void expect_the_sums(const std::vector<std::uint32_t>& lengths, std::uint32_t num_cols) {
  SCOPED_TRACE(testing::Message() << lengths.size() << " rows, " << num_cols << " columns");
  const SmallMatrix a = SmallMatrix::of(lengths, num_cols);
  const ClusterDeal deal = a.deal();
  ASSERT_EQ(deal.blocks.size(), kClusterBlocks + 1);
  EXPECT_EQ(deal.blocks.front().first_row, 0u);
  EXPECT_EQ(deal.blocks.back().first_row, lengths.size());
  std::mt19937_64 random(num_cols);
  std::vector<double> x(num_cols);
  for (double& value : x) value = std::uniform_real_distribution<double>(-1, 1)(random);
  EXPECT_EQ(dealt_sums(deal, a, x), expected_sums(a, x));
}

TEST(RunCluster, AddsUpRowsAsTheFormatDoes) {
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t length = 0; length < 70; ++length) lengths.insert(lengths.end(), {length, 0, length});
  for (const std::uint32_t length : {255, 256, 257, 511, 512, 513, 5000}) lengths.push_back(length);
  expect_the_sums(lengths, 700);
}

TEST(RunCluster, AddsUpAnyRows) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::uint32_t> lengths(1 + random() % 3000);
    for (std::uint32_t& length : lengths) length = random() % (1u << random() % 6);
    lengths[random() % lengths.size()] = random() % 5000;
    expect_the_sums(lengths, 1 + random() % kMostClusterColumns);
  }
}

TEST(RunCluster, HasBlocksWithoutRowsWhereThereAreFew) {
  expect_the_sums({}, 1);
  expect_the_sums({1}, 1);
  expect_the_sums({0, 0, 0}, 5);
  expect_the_sums({20000, 1, 1}, kMostClusterColumns);
}

/// As many rows as can be, in whatever order they come.
TEST(RunCluster, HasAllOfManyRows) {
  const auto most = static_cast<std::uint32_t>(kMostClusterCost / kClusterRowCost);
  ASSERT_TRUE(pays_in_cluster(most, 0, 4));
  EXPECT_FALSE(pays_in_cluster(most + 1, 0, 4));
  expect_the_sums(std::vector<std::uint32_t>(most, 0), 3);
  std::vector<std::uint32_t> one_long(5000, 1);
  for (const std::size_t at : {0, 2500, 4999}) {
    std::vector<std::uint32_t> lengths = one_long;
    lengths[at] = 30000;
    ASSERT_TRUE(pays_in_cluster(lengths.size(), 34999, 4));
    expect_the_sums(lengths, 40000);
  }
}

TEST(RunCluster, GivesBlocksEvenShares) {
  const ClusterDeal deal = SmallMatrix::of(std::vector<std::uint32_t>(800, 10), 800).deal();
  for (unsigned b = 0; b < kClusterBlocks; ++b) EXPECT_EQ(deal.blocks.at(b).first_row, 100 * b);
  EXPECT_EQ(deal.most.rows, 100u);
  EXPECT_EQ(deal.most.sums, 100u);
}

/// Rows of like length are a warp's, so that few elements are padding.
TEST(RunCluster, PadsLittle) {
  std::vector<std::uint32_t> lengths;
  for (unsigned i = 0; i < 1024; ++i) lengths.push_back(i % 4 == 0 ? 16 : 2);
  std::mt19937 random(1);
  std::shuffle(lengths.begin(), lengths.end(), random);
  const SmallMatrix a = SmallMatrix::of(lengths, 1024);
  EXPECT_LE(2 * a.deal().words.size(), a.col_indices.size() * 3 / 2);
}

TEST(RunCluster, PaysForTheSmallestGraphsOnly) {
  EXPECT_TRUE(pays_in_cluster(6301, 20777, 4));
  EXPECT_FALSE(pays_in_cluster(6301, 20777, 8));
  EXPECT_TRUE(pays_in_cluster(1490, 33430, 8));
  EXPECT_FALSE(pays_in_cluster(10680, 48632, 4));
  EXPECT_FALSE(pays_in_cluster(7115, 103689, 4));
}

/// Parts lie one behind the other, from multiples of 16 bytes on.
TEST(RunCluster, HasRoomForAllItsParts) {
  const ClusterSizes most{.rows = 5, .tasks = 3, .words = 7, .sums = 9, .cols = 11};
  const ClusterLayout<1> at(100, {most}, 4);
  EXPECT_EQ(at.sums, 112u);
  EXPECT_EQ(at.sides[0].words, 192u);
  EXPECT_EQ(at.sides[0].values, 224u);
  EXPECT_EQ(at.sides[0].tasks, 224u);
  EXPECT_EQ(at.sides[0].sum_of_lane, 224 + round_up<std::size_t>(3 * sizeof(ClusterTask), 16));
  EXPECT_EQ(at.inputs[0], at.sides[0].sum_of_lane + 3 * 64);
  EXPECT_EQ(at.inputs[1], at.inputs[0] + 12 * 4);
  EXPECT_EQ(at.end, at.inputs[1] + 12 * 4);
}

TEST(RunCluster, HasRoomForValues) {
  const ClusterSizes most{.rows = 5, .tasks = 3, .words = 7, .sums = 9, .cols = 11, .weighted = true};
  const ClusterLayout<1> of_floats(100, {most}, 4), of_doubles(100, {most}, 8);
  EXPECT_EQ(of_floats.sides[0].tasks, of_floats.sides[0].values + 64);
  EXPECT_EQ(of_doubles.sides[0].tasks, of_doubles.sides[0].values + 112);
}

/// Their sums share room, as one side's are used up before the other's are made.
TEST(RunCluster, HasRoomForTwoSides) {
  const ClusterSizes first{.rows = 5, .tasks = 3, .words = 7, .sums = 9, .cols = 11},
      second{.rows = 1, .tasks = 1, .words = 2, .sums = 20, .cols = 3};
  const ClusterLayout<2> at(100, {first, second}, 8);
  EXPECT_EQ(at.sums, 112u);
  EXPECT_EQ(at.sides[0].words, 112u + 20 * sizeof(double));
  EXPECT_EQ(at.sides[1].words, at.sides[0].sum_of_lane + 3 * 64);
  EXPECT_EQ(at.inputs[0], at.sides[1].sum_of_lane + 64);
  EXPECT_EQ(at.inputs[1], at.inputs[0] + 12 * 8);
  EXPECT_EQ(at.end, at.inputs[1] + 4 * 8);
}

/// Of those that tests/engine/device_rank_runs_test.cpp and device_pair_runs_test.cpp run in a cluster: else
/// they would test something else.
TEST(DeviceRunCluster, HasRoomForTheLargestGraphs) {
  int num_devices = 0, major = 0, shared_bytes = 0;
  if (cudaGetDeviceCount(&num_devices) != cudaSuccess || num_devices == 0)
    GTEST_SKIP() << "no CUDA device answers";
  ASSERT_EQ(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), cudaSuccess);
  if (major < 9) GTEST_SKIP() << "this device has no clusters";
  ASSERT_EQ(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), cudaSuccess);
  if (shared_bytes < 200 << 10) GTEST_SKIP() << "a block of this device has too little shared memory";
  const auto most_of_rows = [](std::uint32_t num_rows, bool weighted = false) {
    return SmallMatrix::of(std::vector<std::uint32_t>(num_rows, 1), num_rows).deal(weighted).most;
  };
  for (const bool weighted : {false, true}) {
    EXPECT_TRUE(fits_in_cluster<float>(most_of_rows(11000, weighted)));
    EXPECT_TRUE(fits_in_cluster<double>(most_of_rows(6000, weighted)));
  }
  EXPECT_TRUE(fits_in_cluster<float>(most_of_rows(1)));
  ClusterSizes wide = most_of_rows(1);
  wide.cols = kMostClusterColumns;
  EXPECT_FALSE(fits_in_cluster<double>(wide));
  const ClusterBlock blocks{};  // which fit_in_cluster does not read
  const auto fit = [&]<class S>(const ClusterSizes& first, const ClusterSizes& second, S) {
    RunClusters<S, 2> pair;
    for (RunCluster<S>& side : pair.sides) side.blocks = &blocks;
    pair.sides[0].most = first, pair.sides[1].most = second;
    return fit_in_cluster<S>(pair);
  };
  for (const bool weighted : {false, true}) {
    EXPECT_TRUE(fit(most_of_rows(11000, weighted), most_of_rows(11000, weighted), 0.0f));
    EXPECT_TRUE(fit(most_of_rows(6000, weighted), most_of_rows(6000, weighted), 0.0));
  }
  EXPECT_FALSE(fit(most_of_rows(1), wide, 0.0));
  EXPECT_FALSE(fit(wide, most_of_rows(1), 0.0));
  RunClusters<float, 2> one;
  one.sides[0].blocks = &blocks;
  EXPECT_FALSE(fit_in_cluster<float>(one));
}

}  // namespace
}  // namespace tessera::cuda
