#include "kernels/cuda/device_sums.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/cuda/device_memory.hpp"

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
  num_vectors = std::max<std::size_t>(num_vectors, 64);
  if (host_ != nullptr) TESSERA_CUDA_CALL(cudaDeviceSynchronize());  // a kernel may still be sending
  capacity_ = 0;
  device_ = device_buffer<DeviceSums>(num_vectors + 1);
  TESSERA_CUDA_CALL(cudaMemset(device_.data(), 0, device_.size_bytes()));
  TESSERA_CUDA_CALL(cudaFreeHost(std::exchange(host_, nullptr)));
  TESSERA_CUDA_CALL(cudaMallocHost(reinterpret_cast<void**>(&host_), device_.size_bytes()));
  std::memset(host_, 0, device_.size_bytes());
  capacity_ = num_vectors;
}

SumsOutbox SumsMailbox::open(std::size_t num_vectors) {
  ++number_;  // what was open before can no longer be had
  make_room(num_vectors);
  num_vectors_ = num_vectors;
  return {.sums = device_.data(),
          .blocks_done = reinterpret_cast<unsigned*>(device_.data() + capacity_),
          .host = host_,
          .arrived = reinterpret_cast<std::uint64_t*>(host_ + capacity_),
          .number = number_,
          .num_vectors = static_cast<unsigned>(num_vectors)};
}

bool SumsMailbox::has_arrived() const {
  std::atomic_ref<std::uint64_t> arrived(*reinterpret_cast<std::uint64_t*>(host_ + capacity_));
  return arrived.load(std::memory_order_acquire) == number_;
}

std::vector<VectorSums> SumsMailbox::receive(std::uint64_t number) {
  require(number == number_, "sums are taken before the next update starts");
  constexpr unsigned kLooksBetweenQuestions = 1 << 14;
  for (unsigned looks = 1; !has_arrived(); ++looks) {
    if (looks % kLooksBetweenQuestions != 0) continue;
    const cudaError_t status = cudaStreamQuery(nullptr);
    if (status == cudaErrorNotReady) {
      std::this_thread::yield();
      continue;
    }
    TESSERA_CUDA_CALL(status);
    require(has_arrived(), "an update has ended without its sums");
  }
  std::vector<VectorSums> sums(num_vectors_);
  std::transform(host_, host_ + num_vectors_, sums.begin(), to_host);
  return sums;
}

}  // namespace tessera::cuda
