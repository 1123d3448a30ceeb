// Small blocks of a device's memory: none is given twice at a time, and those that are kept are given again.
#include "kernels/cuda/small_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

class DeviceSmallBlocks : public testing::Test {
 protected:
  void SetUp() override {
    if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  }
};

struct Block {
  void* begin;
  std::size_t num_bytes;
};
Block take(std::size_t num_bytes) { return {SmallBlocks::take(num_bytes), num_bytes}; }

/// Each is aligned, and none has a byte of another: all are filled, and then found as they were left.
void expect_apart(const std::vector<Block>& blocks) {
  unsigned char number = 0;
  for (const Block& block : blocks) {
    ASSERT_NE(block.begin, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.begin) % 256, 0u);
    TESSERA_CUDA_CALL(cudaMemset(block.begin, ++number, block.num_bytes));
  }
  number = 0;
  for (const Block& block : blocks) {
    std::vector<unsigned char> found(block.num_bytes);
    TESSERA_CUDA_CALL(cudaMemcpy(found.data(), block.begin, block.num_bytes, cudaMemcpyDeviceToHost));
    ++number;
    EXPECT_TRUE(std::ranges::all_of(found, [=](unsigned char byte) { return byte == number; }));
  }
}

/// More than a slab has, of all sizes, some of them for the second time.
TEST_F(DeviceSmallBlocks, LieApart) {
  std::mt19937 random(3);
  std::vector<Block> blocks;
  for (const std::size_t size : {std::size_t{1}, std::size_t{256}, std::size_t{257}, SmallBlocks::kMostBytes})
    blocks.push_back(take(size));
  while (blocks.size() < 120) blocks.push_back(take(1 + random() % SmallBlocks::kMostBytes));
  expect_apart(blocks);
  std::shuffle(blocks.begin(), blocks.end(), random);
  for (std::size_t i = 0; i < 60; ++i) {
    SmallBlocks::keep(blocks.back().begin, blocks.back().num_bytes);
    blocks.pop_back();
  }
  while (blocks.size() < 120) blocks.push_back(take(1 + random() % SmallBlocks::kMostBytes));
  expect_apart(blocks);
  for (const Block& block : blocks) SmallBlocks::keep(block.begin, block.num_bytes);
}

TEST_F(DeviceSmallBlocks, AreGivenAgain) {
  const Block first = take(5000), second = take(5000);
  SmallBlocks::keep(first.begin, first.num_bytes);
  const Block again = take(8192), third = take(5000);
  EXPECT_EQ(again.begin, first.begin) << "the same power of two";
  EXPECT_NE(third.begin, second.begin);
  SmallBlocks::keep(second.begin, second.num_bytes);
  const Block smaller = take(4096);
  EXPECT_NE(smaller.begin, second.begin);
  for (const Block& block : {again, third, smaller}) SmallBlocks::keep(block.begin, block.num_bytes);
}

std::size_t free_bytes() {
  std::size_t free = 0, all = 0;
  TESSERA_CUDA_CALL(cudaMemGetInfo(&free, &all));
  return free;
}

TEST_F(DeviceSmallBlocks, GoBackWhereNoneIsInUse) {
  SmallBlocks::give_back();
  std::vector<Block> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(take(SmallBlocks::kMostBytes));
  for (std::size_t i = 1; i < blocks.size(); ++i) SmallBlocks::keep(blocks[i].begin, blocks[i].num_bytes);
  const std::size_t before = free_bytes();
  SmallBlocks::give_back();
  EXPECT_EQ(free_bytes(), before) << "one is in use";
  SmallBlocks::keep(blocks[0].begin, blocks[0].num_bytes);
  SmallBlocks::give_back();
  EXPECT_GE(free_bytes(), before + 64 * SmallBlocks::kMostBytes);
}

}  // namespace
}  // namespace tessera::cuda
