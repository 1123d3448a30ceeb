// Elements that become items: on a device where one answers, and in host memory.
#include "kernels/cuda/expansion.cuh"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

struct LoadSize {
  const Segment* segments;
  const std::uint32_t* sizes;
  __host__ __device__ std::uint32_t operator()(std::uint32_t segment, std::uint64_t e) const {
    return e < segments[segment].first || e >= segments[segment].end ? 0 : sizes[e];
  }
};
struct SizeItself {
  __host__ __device__ std::uint32_t operator()(std::uint32_t size) const { return size; }
};
struct AddToSum {
  std::uint32_t* sum;
  __host__ __device__ void operator()(std::uint32_t, std::uint32_t size) const { add_to(sum, size); }
};
struct TellBefore {
  ItemsBefore of;
  std::uint32_t* before;
  __host__ __device__ void operator()(std::uint64_t s) const {
    before[s] = of.before_segment(static_cast<std::uint32_t>(s));
  }
};
/// Of each item the size of the element that it is of.
struct WriteItems {
  std::uint32_t* items;
  __host__ __device__ void operator()(std::uint32_t size, std::uint64_t first) const {
    for (std::uint32_t k = 0; k < size; ++k) items[first + k] = size;
  }
};

/// Elements of segments, with some between that are of none.
struct Given {
  std::vector<Segment> segments;
  std::vector<std::uint32_t> sizes;
};
using SizeOf = std::function<std::uint32_t(std::size_t)>;
Given in_segments(std::size_t num_segments, std::size_t count, std::size_t gap, const SizeOf& size_of) {
  Given given;
  for (std::size_t s = 0; s < num_segments; ++s) {
    const auto first = static_cast<std::uint32_t>(given.sizes.size());
    for (std::size_t e = s * count / num_segments; e < (s + 1) * count / num_segments; ++e)
      given.sizes.push_back(size_of(e));
    given.segments.push_back({first, static_cast<std::uint32_t>(given.sizes.size())});
    given.sizes.resize(given.sizes.size() + gap, 1000000);
  }
  return given;
}

template <class Memory>
void expect_expanded(const Given& of, std::size_t count) {
  std::vector<std::uint32_t> expected, before{0};
  for (const Segment& segment : of.segments) {
    for (std::uint32_t e = segment.first; e < segment.end; ++e)
      expected.insert(expected.end(), of.sizes[e], of.sizes[e]);
    before.push_back(static_cast<std::uint32_t>(expected.size()));
  }
  const auto segments = Memory::template from_host<Segment>(of.segments);
  const auto sizes = Memory::template from_host<std::uint32_t>(of.sizes);
  auto sum = Memory::template zeros<std::uint32_t>(1);
  const LoadSize load{segments.data(), sizes.data()};
  Expansion<Memory> expansion;
  // More chunks than there are, and fewer blocks.
  expansion.count(segments, 2 * count, count / 3, load, SizeItself(), AddToSum{sum.data()});
  ASSERT_EQ(expansion.num_items(), expected.size());
  EXPECT_EQ(Memory::read(sum.data()), expected.size());
  BuildVector<Memory, std::uint32_t> items_before(before.size());
  Memory::each(before.size(), TellBefore{expansion.items_before(), items_before.data()});
  EXPECT_EQ(Memory::to_host(items_before.data(), before.size()), before);
  auto items = Memory::template zeros<std::uint32_t>(expected.size());
  expansion.each(segments, load, SizeItself(), WriteItems{items.data()});
  EXPECT_TRUE(Memory::to_host(items.data(), items.size()) == expected) << count << " elements";
}

TEST(Expansion, NumbersItemsInTheOrderOfTheirElements) {
  std::mt19937 random(3);
  const std::vector<SizeOf> all_sizes = {
      [](std::size_t) { return 1u; },                               // one each
      [](std::size_t e) { return e % 3000 == 2999 ? 2000u : 1u; },  // one but for some
      [&](std::size_t) { return 1 + random() % 5; },
      [](std::size_t e) { return e / 4096 % 2 == 0 ? 1u : 7u; }};  // whole blocks of one each
  for (const std::size_t num_segments : {1u, 3u, 700u})
    for (const std::size_t count : {1u, 255u, 256u, 1023u, 1025u, 2048u, 6145u, 100003u})
      for (const auto& size_of : all_sizes) {
        SCOPED_TRACE(num_segments);
        const Given given = in_segments(num_segments, count, num_segments % 7, size_of);
        expect_expanded<HostMemory>(given, count);
        if (num_devices() > 0) expect_expanded<DeviceMemory>(given, count);
      }
}

}  // namespace
}  // namespace tessera::cuda
