// Meetings of ranks on one GPU, whose boards it reaches all: what stands for other GPUs' memory here.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/device_stream.hpp"
#include "kernels/cuda/peer_meeting.hpp"
#include "kernels/cuda/peer_memory.hpp"
#include "kernels/devices.hpp"

namespace tessera::test {
namespace {

constexpr unsigned kRanks = 3;

/// A word in page-locked memory of the host, which kernels read.
class HostWord {
 public:
  HostWord() {
    void* memory = nullptr;
    TESSERA_CUDA_CALL(cudaMallocHost(&memory, sizeof(unsigned)));
    word_ = static_cast<unsigned*>(memory);
    set(0);
  }
  ~HostWord() { (void)cudaFreeHost(word_); }
  unsigned* get() const { return word_; }
  unsigned value() const { return *static_cast<const volatile unsigned*>(word_); }
  void set(unsigned value) { *static_cast<volatile unsigned*>(word_) = value; }

 private:
  unsigned* word_ = nullptr;
};

class DevicePeerMeeting : public testing::Test {
 protected:
  void SetUp() override {
    if (num_devices() == 0) GTEST_SKIP() << "no GPU answers here";
    for (unsigned rank = 0; rank < kRanks; ++rank) {
      memory_.push_back(cuda::device_buffer<cuda::PeerBoard>(1));
      ASSERT_EQ(cudaMemset(memory_.back().data(), 0, sizeof(cuda::PeerBoard)), cudaSuccess);
      boards_.of[rank] = memory_.back().data();
      streams_.push_back(std::make_unique<cuda::DeviceStream>());
    }
    boards_.num_ranks = kRanks;
    given_up_ = std::make_unique<HostWord>();
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  cuda::PeerBoards boards_of(unsigned rank) const {
    cuda::PeerBoards boards = boards_;
    boards.rank = rank;
    return boards;
  }
  void meet(unsigned rank, std::uint64_t meeting) {
    cuda::meet(boards_of(rank), meeting, most_seconds_, given_up_->get(), streams_[rank]->get());
  }
  bool is_done(unsigned rank) { return cudaStreamQuery(streams_[rank]->get()) == cudaSuccess; }
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }
  cuda::PeerBoard board(unsigned rank) const {
    auto found = std::make_unique<cuda::PeerBoard>();
    TESSERA_CUDA_CALL(cudaMemcpy(found.get(), boards_.of[rank], sizeof *found, cudaMemcpyDeviceToHost));
    return *found;
  }

  std::vector<Buffer<cuda::PeerBoard>> memory_;
  cuda::PeerBoards boards_;
  std::vector<std::unique_ptr<cuda::DeviceStream>> streams_;
  std::unique_ptr<HostWord> given_up_;
  double most_seconds_ = 60;
};

TEST_F(DevicePeerMeeting, LastsUntilEveryRankHasCome) {
  for (std::uint64_t meeting = 1; meeting <= 3; ++meeting) {
    for (unsigned rank = 0; rank < kRanks; ++rank) {
      pause();
      for (unsigned before = 0; before < rank; ++before) EXPECT_FALSE(is_done(before)) << meeting;
      meet(rank, meeting);
    }
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  for (unsigned of = 0; of < kRanks; ++of)
    for (unsigned rank = 0; rank < kRanks; ++rank)
      EXPECT_EQ(board(of).arrivals[rank].meeting, rank == of ? 0u : 3u);
}

TEST_F(DevicePeerMeeting, WhoIsAheadWaitsForTheNextOne) {
  meet(0, 1);
  meet(0, 2);
  meet(1, 1);
  meet(2, 1);
  for (const unsigned rank : {1u, 2u}) ASSERT_EQ(cudaStreamSynchronize(streams_[rank]->get()), cudaSuccess);
  pause();
  EXPECT_FALSE(is_done(0));
  meet(1, 2);
  meet(2, 2);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(DevicePeerMeeting, EndsWhenItIsGivenUp) {
  meet(0, 1);
  pause();
  EXPECT_FALSE(is_done(0));
  given_up_->set(1);
  EXPECT_EQ(cudaStreamSynchronize(streams_[0]->get()), cudaSuccess);
  EXPECT_EQ(board(0).arrivals[1].meeting, 0u);
}

TEST_F(DevicePeerMeeting, GivesUpByItselfAndSaysSo) {
  most_seconds_ = 0.2;
  meet(0, 1);
  pause();
  EXPECT_FALSE(is_done(0));
  EXPECT_EQ(given_up_->value(), 0u);
  EXPECT_EQ(cudaStreamSynchronize(streams_[0]->get()), cudaSuccess);
  EXPECT_EQ(given_up_->value(), 1u);
}

/// In the order of streams; that it arrives from other GPUs is seen in tests/engine/device_peers_test.cpp.
TEST_F(DevicePeerMeeting, FindsWhatOthersWroteBefore) {
  constexpr std::size_t kSize = 1u << 20;
  Buffer<unsigned char> written = cuda::device_buffer<unsigned char>(kSize),
                        found = cuda::device_buffer<unsigned char>(kSize);
  for (int round = 1; round <= 20; ++round) {
    const auto meeting = static_cast<std::uint64_t>(round);
    meet(2, meeting);
    meet(1, meeting);
    ASSERT_EQ(
        cudaMemcpyAsync(found.data(), written.data(), kSize, cudaMemcpyDeviceToDevice, streams_[1]->get()),
        cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(written.data(), round, kSize, streams_[0]->get()), cudaSuccess);
    meet(0, meeting);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const Buffer<unsigned char> bytes = cuda::on_host(found);
    ASSERT_TRUE(std::all_of(bytes.begin(), bytes.end(), [&](unsigned char byte) { return byte == round; }));
  }
}

TEST_F(DevicePeerMeeting, NoticesGoToTheirPlaceOnEveryBoard) {
  const std::string text = "of rank 1";
  cuda::post_notice(boards_of(1), 1, std::as_bytes(std::span(text)), nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (unsigned of = 0; of < kRanks; ++of) {
    cuda::PeerBoard expected{};
    std::memcpy(expected.notices[1][1], text.data(), text.size());
    EXPECT_EQ(std::memcmp(board(of).notices, expected.notices, sizeof expected.notices), 0);
  }
}

TEST(DevicePeerMemory, IsWantedUnlessNcclIsToldNotTo) {
  EXPECT_TRUE(cuda::wants_peers(nullptr, nullptr));
  EXPECT_TRUE(cuda::wants_peers("0", "NVL"));
  EXPECT_FALSE(cuda::wants_peers("1", nullptr));
  EXPECT_FALSE(cuda::wants_peers(nullptr, "LOC"));
  EXPECT_FALSE(cuda::wants_peers("0", "0"));
}

}  // namespace
}  // namespace tessera::test
