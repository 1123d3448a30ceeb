// Elements that become items: on a device where one answers, and in host memory.
#include "kernels/cuda/expansion.cuh"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

struct LoadSize {
  const std::uint32_t* sizes;
  __host__ __device__ std::uint32_t operator()(std::uint64_t e) const { return sizes[e]; }
};
struct SizeItself {
  __host__ __device__ std::uint32_t operator()(std::uint32_t size) const { return size; }
};
struct AddToSum {
  std::uint32_t* sum;
  __host__ __device__ void operator()(std::uint32_t, std::uint32_t size) const { add_to(sum, size); }
};
/// Of each item the size of the element that it is of.
struct WriteItems {
  std::uint32_t* items;
  __host__ __device__ void operator()(std::uint32_t size, std::uint64_t first) const {
    for (std::uint32_t k = 0; k < size; ++k) items[first + k] = size;
  }
};

template <class Memory>
void expect_expanded(const std::vector<std::uint32_t>& sizes) {
  std::vector<std::uint32_t> expected;
  for (const std::uint32_t size : sizes) expected.insert(expected.end(), size, size);
  const auto given = Memory::template from_host<std::uint32_t>(sizes);
  auto sum = Memory::template zeros<std::uint32_t>(1);
  const LoadSize load{given.data()};
  const auto ends = item_ends<Memory>(sizes.size(), load, SizeItself(), AddToSum{sum.data()});
  ASSERT_EQ(Memory::read(ends.data() + ends.size() - 1), expected.size());
  EXPECT_EQ(Memory::read(sum.data()), expected.size());
  auto items = Memory::template zeros<std::uint32_t>(expected.size());
  each_expanded<Memory>(sizes.size(), load, SizeItself(), ends, WriteItems{items.data()});
  EXPECT_TRUE(Memory::to_host(items.data(), items.size()) == expected) << sizes.size() << " elements";
}

TEST(Expansion, NumbersItemsInTheOrderOfTheirElements) {
  std::mt19937 random(3);
  const std::vector<std::function<std::uint32_t(std::size_t)>> all_sizes = {
      [](std::size_t) { return 1u; },                               // one each
      [](std::size_t e) { return e % 3000 == 2999 ? 2000u : 1u; },  // one but for some
      [&](std::size_t) { return random() % 5; },                    // none, or some
      [](std::size_t e) { return e / 2048 % 2 == 0 ? 1u : 7u; }};   // whole blocks of one each
  for (const std::size_t count : {1u, 255u, 256u, 1023u, 1024u, 1025u, 100003u})
    for (const auto& size_of : all_sizes) {
      std::vector<std::uint32_t> sizes;
      for (std::size_t e = 0; e < count; ++e) sizes.push_back(size_of(e));
      expect_expanded<HostMemory>(sizes);
      if (num_devices() > 0) expect_expanded<DeviceMemory>(sizes);
    }
}

}  // namespace
}  // namespace tessera::cuda
