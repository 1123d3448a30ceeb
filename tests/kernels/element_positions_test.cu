// Positions of elements: those below 2^32 in four bytes each, others in five; in host memory (and on a device
// where one answers).
#include "kernels/cuda/element_positions.cuh"

#include <gtest/gtest.h>

#include <random>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

template <class Memory>
ElementPositions<Memory> stored(const std::vector<std::uint64_t>& given, std::uint64_t num_elements) {
  ElementPositions<Memory> positions(given.size(), num_elements);
  const auto from = Memory::template from_host<std::uint64_t>(given);
  const std::uint64_t* position = from.data();
  const PositionsStore to = positions.to_store();
  Memory::each(given.size(), [=] __host__ __device__(std::uint64_t i) { to.store(i, position[i]); });
  return positions;
}
template <class Memory>
std::vector<std::uint64_t> loaded(const ElementPositions<Memory>& positions) {
  BuildVector<Memory, std::uint64_t> found(positions.size());
  std::uint64_t* to = found.data();
  const PositionsLoad from = positions.to_load();
  Memory::each(found.size(), [=] __host__ __device__(std::uint64_t i) { to[i] = from.load(i); });
  return Memory::to_host(found.data(), found.size());
}

std::vector<std::uint64_t> random_positions(std::size_t count, std::uint64_t num_elements, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> positions(count);
  for (std::uint64_t& position : positions) position = random() % num_elements;
  positions.back() = num_elements - 1;
  return positions;
}

template <class Memory>
void expect_kept() {
  constexpr std::uint64_t kTwoTo32 = std::uint64_t{1} << 32;
  for (const std::uint64_t num_elements : {std::uint64_t{7}, kTwoTo32, kTwoTo32 + 1, 200 * kTwoTo32}) {
    const auto first = random_positions(301, num_elements, 1),
               second = random_positions(1000, num_elements, 2);
    std::vector<ElementPositions<Memory>> parts;
    parts.push_back(stored<Memory>(first, num_elements));
    EXPECT_EQ(loaded(parts[0]), first) << num_elements;
    EXPECT_EQ(parts[0].to_load().high == nullptr, num_elements <= kTwoTo32) << num_elements;
    auto alone = ElementPositions<Memory>::joined(parts);
    EXPECT_EQ(loaded(alone), first) << num_elements;
    parts.push_back(std::move(alone));
    parts.push_back(stored<Memory>(second, num_elements));
    auto both = ElementPositions<Memory>::joined(parts);
    EXPECT_TRUE(parts.empty());
    std::vector<std::uint64_t> expected = first;
    expected.insert(expected.end(), second.begin(), second.end());
    EXPECT_EQ(loaded(both), expected) << num_elements;
    both.truncate(400);
    expected.resize(400);
    EXPECT_EQ(loaded(both), expected) << num_elements;
  }
}

TEST(ElementPositions, AreKept) {
  expect_kept<HostMemory>();
  if (num_devices() > 0) expect_kept<DeviceMemory>();
}

TEST(ElementPositions, OfTooManyElementsAreRefused) {
  EXPECT_NO_THROW(ElementPositions<HostMemory>(3, (std::uint64_t{1} << 40) - 1));
  EXPECT_THROW(ElementPositions<HostMemory>(3, std::uint64_t{1} << 40), InternalError);
}

}  // namespace
}  // namespace tessera::cuda
