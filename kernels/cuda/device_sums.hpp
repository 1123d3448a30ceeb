// Sums of an update in device memory, and their way to the host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/base/buffer.hpp"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/vector_sums.hpp"

namespace tessera::cuda {

/// A FoldedSum as atomics see it: two's complement, so unsigned addition is right for negative limbs.
using Limb = unsigned long long;

/// VectorSums as kernels add to them.
struct DeviceSums {
  Limb change_l1[ExactSum::kFolds];
  Limb change_squares[WideExactSum::kFolds];
  Limb total[ExactSum::kFolds];
  Limb dangling[ExactSum::kFolds];
  Limb change_max;  ///< the bits of a double that is not negative: they order as the numbers do
};
inline constexpr unsigned kSumWords = sizeof(DeviceSums) / sizeof(Limb);

/// Brings the sums of one update at a time to the host, which can do other things until it needs them.
class SumsMailbox {
 public:
  SumsMailbox();
  ~SumsMailbox();
  SumsMailbox(const SumsMailbox&) = delete;
  SumsMailbox& operator=(const SumsMailbox&) = delete;

  /// Zeros in device memory, one for each vector, for the next kernel to add to.
  DeviceSums* open(std::size_t num_vectors);
  /// After that kernel; gives the number to receive with.
  std::uint64_t send();
  /// Waits for what was sent. Only the latest can be had.
  std::vector<VectorSums> receive(std::uint64_t number);

 private:
  std::size_t num_vectors_ = 0, capacity_ = 0;
  std::uint64_t number_ = 0;
  Buffer<DeviceSums> device_;
  DeviceSums* host_ = nullptr;  // page-locked
  cudaEvent_t arrived_ = nullptr;
};

}  // namespace tessera::cuda
