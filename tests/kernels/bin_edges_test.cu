// Bins of rows whose messages are counted in some memory, against bins cut where all counts lie on the host
// (and on a device where one answers).
#include "kernels/cuda/bin_edges.cuh"

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

using Counts = std::vector<std::uint32_t>;

/// Most rows have few messages, some none, one of a hundred many.
Counts random_counts(std::size_t num_rows, std::uint32_t many, unsigned seed) {
  std::mt19937 random(seed);
  Counts counts(num_rows);
  for (std::uint32_t& count : counts) count = random() % 100 == 0 ? random() % (many + 1) : random() % 4;
  return counts;
}

std::vector<std::uint32_t> before_rows(const Counts& counts) {
  std::vector<std::uint32_t> before{0};
  for (const std::uint32_t count : counts) before.push_back(before.back() + count);
  return before;
}

RowFindings findings_of(const Counts& counts) {
  RowFindings all;
  for (const std::uint32_t count : counts) all = all + RowFindings{count, count > 0 ? 1u : 0u, count};
  return all;
}

/// The bins of a Memory where edges of likely_messages are read at first.
template <class Memory>
void expect_bins(const Counts& counts, std::uint64_t likely_messages, const BinLimits& limits) {
  const std::vector<std::uint32_t> on_host = before_rows(counts);
  const RowFindings findings = findings_of(counts);
  const auto before = Memory::template from_host<std::uint32_t>(on_host);
  const auto found = Memory::template from_host<RowFindings>(std::span<const RowFindings>(&findings, 1));
  SideStream<Memory> side;
  int calls = 0;
  BinEdges<Memory> edges(before, found.data(), likely_messages, limits, side, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(edges.found().most_messages, findings.most_messages);
  EXPECT_EQ(edges.found().num_rows, findings.num_rows);
  EXPECT_EQ(edges.found().num_messages, findings.num_messages);
  std::vector<std::uint64_t> rows;
  for (const BinEdge& edge : edges.cut()) {
    EXPECT_EQ(edge.messages_before, on_host[edge.row]);
    rows.push_back(edge.row);
  }
  EXPECT_EQ(rows, cut_bins(on_host, limits));
}

void expect_bins_everywhere(const Counts& counts, const BinLimits& limits) {
  const std::uint64_t num_messages = before_rows(counts).back();
  for (const std::uint64_t most : {num_messages, 2 * num_messages + 7, num_messages / 2, std::uint64_t{0}}) {
    SCOPED_TRACE(std::to_string(counts.size()) + " rows, edges of up to " + std::to_string(most) + " of " +
                 std::to_string(num_messages) + " messages");
    expect_bins<HostMemory>(counts, most, limits);
    if (num_devices() > 0) expect_bins<DeviceMemory>(counts, most, limits);
  }
}

constexpr BinLimits kLimits{.most_messages = 5000, .at_once = 6, .least_messages = 64};

TEST(BinEdges, CutsTheBinsOfTheHost) {
  for (const std::size_t num_rows : {1u, 2u, 100u, 5000u, 200000u})
    expect_bins_everywhere(random_counts(num_rows, 50, static_cast<unsigned>(num_rows)), kLimits);
}

TEST(BinEdges, CutsRowsThatHaveNoMessages) {
  expect_bins_everywhere({}, kLimits);
  expect_bins_everywhere(Counts(1000, 0), kLimits);
  Counts at_the_end(3000, 0);
  at_the_end.back() = 17;
  expect_bins_everywhere(at_the_end, kLimits);
}

TEST(BinEdges, CutsWhereRowsAreLongerThanPieces) {
  expect_bins_everywhere(random_counts(20000, 4900, 3), kLimits);
  expect_bins_everywhere(Counts(50, 5000), kLimits);
  expect_bins_everywhere(random_counts(300, 40, 4), {.most_messages = 65, .at_once = 3, .row_messages = 2});
}

TEST(BinEdges, RefusesWhatNoBinTakes) {
  const auto cut = [](const Counts& counts, const BinLimits& limits) {
    const std::vector<std::uint32_t> before = before_rows(counts);
    const RowFindings findings = findings_of(counts);
    SideStream<HostMemory> side;
    BinEdges<HostMemory>(HostMemory::from_host<std::uint32_t>(before), &findings, before.back(), limits, side,
                         [] {})
        .cut();
  };
  EXPECT_THROW(cut({3, 5001, 2}, kLimits), ResourceError);
  EXPECT_NO_THROW(cut({3}, {}));
  EXPECT_THROW(cut({3}, {.most_messages = 0}), InternalError);
  EXPECT_THROW(cut({3}, {.most_messages = 65536}), InternalError);
  EXPECT_THROW(cut({3}, {.at_once = 0}), InternalError);
  EXPECT_THROW(cut({3}, {.least_messages = 0}), InternalError);
}

template <class Memory>
void expect_only_told(const RowFindings& findings) {
  const auto before = Memory::template from_host<std::uint32_t>(std::vector<std::uint32_t>{0, 7, 10});
  const auto found = Memory::template from_host<RowFindings>(std::span<const RowFindings>(&findings, 1));
  SideStream<Memory> side;
  const BinEdges<Memory> edges(before, found.data(), findings.num_messages, kLimits, side, [] {});
  EXPECT_EQ(edges.found().most_messages, findings.most_messages);
  EXPECT_EQ(edges.found().num_messages, findings.num_messages);
}

/// More than a BinEdge numbers.
TEST(BinEdges, TellsOfMoreMessagesThanBinsCanHave) {
  for (const std::uint64_t num_messages :
       {std::uint64_t{kNoVertex}, std::uint64_t{1} << 32, std::uint64_t{1} << 33 | 3}) {
    expect_only_told<HostMemory>({std::uint64_t{5} << 32 | 7, 5, num_messages});
    if (num_devices() > 0) expect_only_told<DeviceMemory>({std::uint64_t{5} << 32 | 7, 5, num_messages});
  }
}

/// What was told is enough for the first bins, if it is of as many messages: no edge is looked for again.
TEST(BinEdges, NeedsNoOtherReadWhereEdgesWereTold) {
  const Counts counts = random_counts(5000, 50, 9);
  auto before = HostMemory::from_host<std::uint32_t>(before_rows(counts));
  const RowFindings findings = findings_of(counts);
  SideStream<HostMemory> side;
  BinEdges<HostMemory> edges(before, &findings, findings.num_messages, kLimits, side, [] {});
  HostMemory::clear(before.data(), before.size() * sizeof(std::uint32_t));  // another look would find nothing
  std::vector<std::uint64_t> rows;
  for (const BinEdge& edge : edges.cut()) rows.push_back(edge.row);
  EXPECT_EQ(rows, cut_bins(before_rows(counts), kLimits));
}

}  // namespace
}  // namespace tessera::cuda
