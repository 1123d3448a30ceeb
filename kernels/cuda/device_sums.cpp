#include "kernels/cuda/device_sums.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <thread>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/rank_rule.hpp"

namespace tessera::cuda {
namespace {

VectorSums to_host(const DeviceSums& sums) {
  VectorSums result;
  result.change_l1 = folded(sums.change_l1);
  result.change_squares = folded(sums.change_squares);
  result.total = folded(sums.total);
  result.dangling = folded(sums.dangling);
  std::memcpy(&result.change_max, &sums.change_max, sizeof result.change_max);
  return result;
}

}  // namespace

SumsMailbox::~SumsMailbox() {
  if (host_ == nullptr || !may_free()) return;
  (void)cudaStreamSynchronize(nullptr);  // a kernel may still be sending
  (void)cudaFreeHost(host_);
}

void SumsMailbox::make_room(std::size_t num_vectors) {
  if (capacity_ >= num_vectors) return;
  num_vectors = std::max<std::size_t>(num_vectors, RankRun::kMostSteps);  // a longer run need not wait
  if (host_ != nullptr) TESSERA_CUDA_CALL(cudaDeviceSynchronize());       // a kernel may still be sending
  capacity_ = 0;
  device_ = device_buffer<DeviceSums>(num_vectors + 1);
  TESSERA_CUDA_CALL(cudaMemset(device_.data(), 0, device_.size_bytes()));
  TESSERA_CUDA_CALL(cudaFreeHost(std::exchange(host_, nullptr)));
  const std::size_t num_halves = kHalves * kSumWords * num_vectors;
  TESSERA_CUDA_CALL(cudaMallocHost(reinterpret_cast<void**>(&host_), num_halves * sizeof(SentHalf)));
  std::fill_n(host_, num_halves, SentHalf{.half = 0, .number = number_ - 1});
  capacity_ = num_vectors;
}

SumsOutbox SumsMailbox::open(std::size_t num_vectors) {
  ++number_;  // what was open before can no longer be had
  make_room(num_vectors);
  num_vectors_ = num_vectors;
  return {.sums = device_.data(),
          .blocks_done = reinterpret_cast<unsigned*>(device_.data() + capacity_),
          .host = host_,
          .number = number_,
          .num_vectors = static_cast<unsigned>(num_vectors)};
}

std::optional<std::uint32_t> SumsMailbox::look_for(std::size_t i) const {
  static_assert(sizeof(SentHalf) == sizeof(std::uint64_t));
  std::atomic_ref<std::uint64_t> sent(*reinterpret_cast<std::uint64_t*>(host_ + i));
  const auto found = std::bit_cast<SentHalf>(sent.load(std::memory_order_relaxed));
  return found.number == number_ ? std::optional(found.half) : std::nullopt;
}

std::uint32_t SumsMailbox::wait_for(std::size_t i) const {
  constexpr unsigned kLooksBetweenQuestions = 1 << 14;
  for (unsigned looks = 1;; ++looks) {
    if (const auto half = look_for(i)) return *half;
    if (looks % kLooksBetweenQuestions != 0) continue;
    const cudaError_t status = cudaStreamQuery(nullptr);
    if (status == cudaErrorNotReady) {
      std::this_thread::yield();
      continue;
    }
    TESSERA_CUDA_CALL(status);
    require(look_for(i).has_value(), "an update has ended without its sums");
  }
}

VectorSums SumsMailbox::receive(std::uint32_t number, std::size_t vector) {
  require(number == number_ && vector < num_vectors_, "sums are taken before the next update starts");
  Limb words[kSumWords];
  for (std::size_t word = 0; word < kSumWords; ++word) {
    const std::size_t first = kHalves * (kSumWords * vector + word);
    const Limb low = wait_for(first), high = wait_for(first + 1);
    words[word] = high << 32 | low;
  }
  DeviceSums sums;
  std::memcpy(&sums, words, sizeof sums);
  return to_host(sums);
}

std::vector<VectorSums> SumsMailbox::receive(std::uint32_t number) {
  std::vector<VectorSums> sums(num_vectors_);
  for (std::size_t vector = 0; vector < num_vectors_; ++vector) sums[vector] = receive(number, vector);
  return sums;
}

}  // namespace tessera::cuda
