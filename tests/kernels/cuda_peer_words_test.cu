// The word that tells whether what one GPU writes to another arrives, and who wants that.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/peer_memory.hpp"
#include "kernels/cuda/peer_words.hpp"
#include "kernels/devices.hpp"

namespace tessera::test {
namespace {

TEST(DevicePeerWords, GoToTheirPlaceInEachMemory) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU answers here";
  constexpr std::size_t kWords = 16;
  const std::vector<std::uint64_t> zeros(kWords, 0);
  std::vector<Buffer<std::uint64_t>> memories;
  std::vector<void*> others;
  for (int i = 0; i < 3; ++i) {
    memories.push_back(cuda::on_device(std::span<const std::uint64_t>(zeros)));
    others.push_back(memories.back().data());
  }
  cuda::put_word(others, 2, 77);
  cuda::put_word({}, 2, 78);
  for (const Buffer<std::uint64_t>& memory : memories) {
    std::vector<std::uint64_t> found(kWords), expected(kWords, 0);
    ASSERT_EQ(cudaMemcpy(found.data(), memory.data(), kWords * sizeof(std::uint64_t), cudaMemcpyDeviceToHost),
              cudaSuccess);
    expected[2] = 77;
    EXPECT_EQ(found, expected);
  }
}

TEST(DevicePeerWords, AreWantedUnlessNcclIsToldNotTo) {
  EXPECT_TRUE(cuda::wants_peers(nullptr, nullptr));
  EXPECT_TRUE(cuda::wants_peers("0", "NVL"));
  EXPECT_FALSE(cuda::wants_peers("1", nullptr));
  EXPECT_FALSE(cuda::wants_peers(nullptr, "LOC"));
  EXPECT_FALSE(cuda::wants_peers("0", "0"));
}

}  // namespace
}  // namespace tessera::test
