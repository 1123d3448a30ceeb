#include "kernels/cuda/device_sums.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/cuda/device_memory.hpp"

namespace tessera::cuda {
namespace {

template <int kFolds>
void copy_limbs(const Limb (&from)[kFolds], FoldedSum<kFolds>& to) {
  for (int f = 0; f < kFolds; ++f) to.limbs[f] = static_cast<std::int64_t>(from[f]);
}

VectorSums to_host(const DeviceSums& sums) {
  VectorSums result;
  copy_limbs(sums.change_l1, result.change_l1);
  copy_limbs(sums.change_squares, result.change_squares);
  copy_limbs(sums.total, result.total);
  copy_limbs(sums.dangling, result.dangling);
  std::memcpy(&result.change_max, &sums.change_max, sizeof result.change_max);
  return result;
}

}  // namespace

SumsMailbox::SumsMailbox() { TESSERA_CUDA_CALL(cudaEventCreateWithFlags(&arrived_, cudaEventDisableTiming)); }

SumsMailbox::~SumsMailbox() {
  if (may_free()) (void)cudaFreeHost(host_);
  (void)cudaEventDestroy(arrived_);
}

DeviceSums* SumsMailbox::open(std::size_t num_vectors) {
  if (capacity_ < num_vectors) {
    capacity_ = 0;
    device_ = device_buffer<DeviceSums>(num_vectors);
    TESSERA_CUDA_CALL(cudaFreeHost(std::exchange(host_, nullptr)));
    TESSERA_CUDA_CALL(cudaMallocHost(reinterpret_cast<void**>(&host_), device_.size_bytes()));
    capacity_ = num_vectors;
  }
  ++number_;
  num_vectors_ = num_vectors;
  TESSERA_CUDA_CALL(cudaMemsetAsync(device_.data(), 0, num_vectors * sizeof(DeviceSums)));
  return device_.data();
}

std::uint64_t SumsMailbox::send() {
  TESSERA_CUDA_CALL(cudaMemcpyAsync(host_, device_.data(), num_vectors_ * sizeof(DeviceSums),
                                    cudaMemcpyDeviceToHost, nullptr));
  TESSERA_CUDA_CALL(cudaEventRecord(arrived_, nullptr));
  return number_;
}

std::vector<VectorSums> SumsMailbox::receive(std::uint64_t number) {
  require(number == number_, "sums are taken before the next update starts");
  TESSERA_CUDA_CALL(cudaEventSynchronize(arrived_));
  std::vector<VectorSums> sums(num_vectors_);
  std::transform(host_, host_ + num_vectors_, sums.begin(), to_host);
  return sums;
}

}  // namespace tessera::cuda
