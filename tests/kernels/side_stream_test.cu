// What the host reads beside other work, also where that fails, in host memory (and on a device where one
// answers).
#include "kernels/cuda/side_stream.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

constexpr std::uint64_t kCount = 1 << 20;

template <class Memory>
BuildVector<Memory, std::uint32_t> numbers_from(std::uint32_t first) {
  BuildVector<Memory, std::uint32_t> numbers(kCount);
  std::uint32_t* number = numbers.data();
  Memory::each(kCount, [=] __host__ __device__(std::uint64_t i) {
    number[i] = first + static_cast<std::uint32_t>(i);
  });
  return numbers;
}

bool are_numbers_from(std::uint32_t first, const std::vector<std::uint32_t>& found) {
  return found.size() == kCount &&
         std::all_of(found.begin(), found.end(), [&](std::uint32_t number) { return number == first++; });
}

template <class Memory>
void expect_read() {
  SideStream<Memory> side;
  const auto read = numbers_from<Memory>(5);
  BuildVector<Memory, std::uint32_t> other;
  EXPECT_TRUE(
      are_numbers_from(5, side.to_host(read.data(), kCount, [&] { other = numbers_from<Memory>(17); })));
  EXPECT_TRUE(are_numbers_from(17, side.to_host(other.data(), kCount, [] {})));
  EXPECT_TRUE(side.to_host(other.data(), 0, [] {}).empty());
}

/// The stream is there for others then, and for what waits for it.
template <class Memory>
void expect_read_after_failure() {
  SideStream<Memory> side;
  const auto read = numbers_from<Memory>(3);
  const auto fail = [] { throw std::runtime_error("no room"); };
  EXPECT_THROW(side.to_host(read.data(), kCount, fail), std::runtime_error);
  EXPECT_TRUE(are_numbers_from(3, side.to_host(read.data(), kCount, [] {})));
  side.fork();
  EXPECT_THROW(side.to_host(read.data(), kCount, [] {}), InternalError);
  side.join();
  EXPECT_TRUE(are_numbers_from(3, side.to_host(read.data(), kCount, [] {})));
}

TEST(SideStream, ReadsWhatWasThereBeforeOtherWork) {
  expect_read<HostMemory>();
  if (num_devices() > 0) expect_read<DeviceMemory>();
}

TEST(SideStream, IsUsedAgainWhereOtherWorkFailed) {
  expect_read_after_failure<HostMemory>();
  if (num_devices() > 0) expect_read_after_failure<DeviceMemory>();
}

/// What is made behind fork() is there for what follows it.
template <class Memory>
void expect_followed() {
  SideStream<Memory> side;
  EXPECT_NO_THROW(side.fork());
  const auto made = numbers_from<Memory>(9);
  BuildVector<Memory, std::uint32_t> copied(kCount);
  const std::uint32_t* from = made.data();
  std::uint32_t* to = copied.data();
  side.follow();
  Memory::each(
      kCount, [=] __host__ __device__(std::uint64_t i) { to[i] = from[i]; }, side.stream());
  side.join();
  EXPECT_TRUE(are_numbers_from(9, Memory::to_host(copied.data(), kCount)));
  EXPECT_THROW(side.follow(), InternalError);
}

TEST(SideStream, FollowsWhatWasMadeMeanwhile) {
  expect_followed<HostMemory>();
  if (num_devices() > 0) expect_followed<DeviceMemory>();
}

/// On both streams, more than before, and less.
template <class Memory>
void expect_told() {
  SideStream<Memory> side;
  for (const std::uint64_t count : {1u, 20000u, 3u}) {
    std::uint64_t* const words = side.words_to_tell(2 * count);
    side.fork();
    Memory::each(
        count, [=] __host__ __device__(std::uint64_t i) { tell_host(words + i, i << 33); }, side.stream());
    Memory::each(count, [=] __host__ __device__(std::uint64_t i) { tell_host(words + count + i, i); });
    const std::span<const std::uint64_t> told = side.told_words();
    ASSERT_EQ(told.size(), 2 * count);
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(told[i], i << 33);
      ASSERT_EQ(told[count + i], i);
    }
    side.join();
  }
}

TEST(SideStream, HearsWhatKernelsTell) {
  expect_told<HostMemory>();
  if (num_devices() > 0) expect_told<DeviceMemory>();
}

struct TellsOne {
  std::uint64_t* word;
  std::uint64_t value;
  __host__ __device__ void operator()(std::uint64_t) const { tell_host(word, value); }
};

/// Else it would wait for ever.
TEST(SideStream, SaysThatNothingWasTold) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  SideStream<DeviceMemory> side;
  DeviceMemory::each(1, TellsOne{side.words_to_tell(2), 7});
  EXPECT_THROW(side.told_words(), InternalError);
  DeviceMemory::each(1, TellsOne{side.words_to_tell(1), 8});
  EXPECT_EQ(side.told_words()[0], 8u);
}

TEST(SideStream, TakesAStreamThatIsLeft) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  cudaStream_t first = nullptr;
  {
    SideStream<DeviceMemory> side, another;
    side.fork();
    first = side.stream();
    another.fork();
    EXPECT_NE(another.stream(), first);
    another.join();
    side.join();
  }
  SideStream<DeviceMemory> side, another;
  side.fork();
  another.fork();
  EXPECT_NE(side.stream(), another.stream());
  EXPECT_TRUE(side.stream() == first || another.stream() == first);
  another.join();
  side.join();
}

}  // namespace
}  // namespace tessera::cuda
