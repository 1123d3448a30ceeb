// Messages before rows, rows with messages and what those of all are together, in host memory (and on a
// device where one answers).
#include "kernels/cuda/messages_of_rows.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

constexpr std::uint64_t kMostTold = 50;

/// num_linked: rows that may have messages; behind them are as many more.
std::vector<std::uint32_t> random_counts(std::size_t num_linked, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> counts(2 * num_linked + 1, 0);
  for (std::size_t i = 1; i <= num_linked; ++i) counts[i] = random() % 3 == 0 ? 0 : 1 + random() % 20;
  return counts;
}

template <class Memory>
void expect_sums(const std::vector<std::uint32_t>& counts, std::uint64_t most_of_row,
                 std::uint64_t num_elements) {
  const std::uint64_t num_rows = counts.size() / 2;
  std::vector<std::uint32_t> before;
  std::vector<VertexId> linked;
  std::uint64_t sum = 0, most = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    before.push_back(static_cast<std::uint32_t>(sum += counts[i]));
    most = std::max<std::uint64_t>(most, counts[i]);
    if (counts[i] > 0) linked.push_back(static_cast<VertexId>(i - 1));
  }
  SideStream<Memory> side;
  MessagesOfRows<Memory> rows(
      {Memory::template from_host<std::uint32_t>(counts), num_rows, num_elements, most_of_row}, kMostTold,
      side);
  rows.list();
  const RowFindings found = Memory::read(rows.findings.data());
  EXPECT_EQ(found.num_messages, sum);
  EXPECT_EQ(found.num_rows, linked.size());
  EXPECT_GE(found.most_messages, most);
  EXPECT_LE(found.most_messages, std::max(most, kMostTold));
  EXPECT_TRUE(Memory::to_host(rows.before.data(), rows.before.size()) == before);
  ASSERT_GE(rows.linked.size(), linked.size());
  EXPECT_TRUE(Memory::to_host(rows.linked.data(), linked.size()) == linked);
}

/// Of few rows and of many: those are looked at otherwise of which some may have more messages than may be
/// told, or which may have more than 32 bits number.
template <class Memory>
void expect_all_sums() {
  unsigned seed = 0;
  for (const std::size_t num_linked : {0u, 1u, 2u, 1000u, 100003u}) {
    SCOPED_TRACE(num_linked);
    const std::vector<std::uint32_t> counts = random_counts(num_linked, ++seed);
    expect_sums<Memory>(counts, kMostTold, 1000000);
    expect_sums<Memory>(counts, kMostTold + 1, 1000000);
    expect_sums<Memory>(counts, kMostTold, std::uint64_t{1} << 32);
  }
}

TEST(MessagesOfRows, AreSummedUpAndRowsListed) {
  expect_all_sums<HostMemory>();
  if (num_devices() > 0) expect_all_sums<DeviceMemory>();
}

TEST(MessagesOfRows, AreSummedUpOfManyRows) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  expect_sums<DeviceMemory>(random_counts(kMostSummed<std::uint64_t> / 2, 9), kMostTold, 1u << 30);
}

}  // namespace
}  // namespace tessera::cuda
