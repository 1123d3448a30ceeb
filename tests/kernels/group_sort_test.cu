// Groups sorted each by itself, in host memory (and on a device where one answers): what lies in which order.
#include "kernels/cuda/group_sort.cuh"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/cuda/side_stream.cuh"
#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

struct LengthOf {
  const std::uint32_t* lengths;
  __host__ __device__ std::uint32_t operator()(std::uint32_t i) const { return lengths[i]; }
};
/// What an element carries: its number, told twice.
struct Carried {
  std::uint64_t twice;
  std::uint32_t number;
};
struct Load {
  __host__ __device__ Carried operator()(std::uint32_t i) const { return {2ull * i, i}; }
};
struct Store {
  std::uint32_t *elements, *lengths;
  __host__ __device__ void operator()(std::uint32_t place, const Carried& of, std::uint32_t length) const {
    elements[place] = of.twice == 2ull * of.number ? of.number : ~0u;
    lengths[place] = length;
  }
};

struct Groups {
  std::vector<std::uint32_t> firsts{0}, lengths;

  Groups(const std::vector<std::uint32_t>& sizes, std::uint32_t longest, unsigned seed) {
    std::mt19937 random(seed);
    for (const std::uint32_t size : sizes) {
      firsts.push_back(firsts.back() + size);
      // Some groups have short elements alone, some equal ones.
      const std::uint32_t most = random() % 3 == 0 ? std::min(longest, 200u) : longest,
                          step = 1 + random() % 9;
      for (std::uint32_t i = 0; i < size; ++i)
        lengths.push_back(random() % 16 == 0 ? most : random() % (most + 1) / step * step);
    }
  }
  std::uint32_t longest() const { return *std::max_element(lengths.begin(), lengths.end()); }
};

/// In every group, lengths fall, equal ones keep their order, and each element is there once. beside: sorted
/// on a stream beside.
template <class Memory>
void expect_sorted(const Groups& groups, bool beside) {
  const std::uint64_t count = groups.lengths.size();
  const auto firsts = Memory::template from_host<std::uint32_t>(groups.firsts),
             given = Memory::template from_host<std::uint32_t>(groups.lengths);
  auto elements = Memory::template zeros<std::uint32_t>(count),
       lengths = Memory::template zeros<std::uint32_t>(count);
  SideStream<Memory> side;
  GroupScratch<Memory> scratch(count, groups.longest());
  if (beside) side.fork();
  sort_groups<Memory>(groups.firsts.size() - 1, count, firsts.data(), LengthOf{given.data()}, Load{},
                      Store{elements.data(), lengths.data()}, scratch, beside ? side.stream() : nullptr);
  if (beside) side.join();
  const auto order = Memory::to_host(elements.data(), count), found = Memory::to_host(lengths.data(), count);
  std::vector<bool> seen(count);
  for (std::size_t g = 0; g + 1 < groups.firsts.size(); ++g)
    for (std::uint32_t i = groups.firsts[g]; i < groups.firsts[g + 1]; ++i) {
      ASSERT_TRUE(groups.firsts[g] <= order[i] && order[i] < groups.firsts[g + 1]) << "group " << g;
      ASSERT_FALSE(seen[order[i]]) << "group " << g;
      seen[order[i]] = true;
      ASSERT_EQ(found[i], groups.lengths[order[i]]) << "group " << g;
      if (i == groups.firsts[g]) continue;
      ASSERT_TRUE(found[i - 1] > found[i] || (found[i - 1] == found[i] && order[i - 1] < order[i]))
          << "group " << g << ", element " << i - groups.firsts[g];
    }
}

void check(const Groups& groups) {
  for (const bool beside : {false, true}) {
    SCOPED_TRACE(beside);
    expect_sorted<HostMemory>(groups, beside);
    if (num_devices() > 0) expect_sorted<DeviceMemory>(groups, beside);
  }
}

const std::vector<std::uint32_t> kSizes{0,   1,   2,    31,   32,   33,   0,     255,   256,
                                        257, 511, 2047, 2048, 2049, 8191, 30000, 65535, 65536};

TEST(GroupSort, SortsFewGroups) {
  for (const std::uint32_t longest : {1u, 255u, 256u, 1024u, 65535u}) check(Groups(kSizes, longest, longest));
}

/// So many that each of the smaller ones is a warp's.
TEST(GroupSort, SortsManyGroups) {
  std::mt19937 random(3);
  std::vector<std::uint32_t> sizes(kManyGroups + 100);
  for (std::uint32_t& size : sizes) size = random() % 40;
  for (std::size_t i = 0; i < kSizes.size(); ++i) sizes[997 * i % sizes.size()] = kSizes[i];
  for (const std::uint32_t longest : {100u, 4000u}) check(Groups(sizes, longest, longest));
}

TEST(GroupSort, TakesNoGroupsAndEmptyOnes) {
  const std::uint32_t first = 0;
  const LengthOf of_none{nullptr};
  const Store nowhere{nullptr, nullptr};
  GroupScratch<HostMemory> scratch;
  EXPECT_NO_THROW(sort_groups<HostMemory>(0, 0, &first, of_none, Load{}, nowhere, scratch));
  if (num_devices() > 0) {
    GroupScratch<DeviceMemory> on_device;
    EXPECT_NO_THROW(sort_groups<DeviceMemory>(0, 0, nullptr, of_none, Load{}, nowhere, on_device));
  }
  check(Groups({0, 0, 3, 0}, 9, 1));
}

}  // namespace
}  // namespace tessera::cuda
