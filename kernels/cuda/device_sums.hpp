// Sums of an update in device memory, and their way to the host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/base/buffer.hpp"
#include "kernels/base/host_device.hpp"
#include "kernels/vector_sums.hpp"

namespace tessera::cuda {

/// A FoldedSum as atomics see it: two's complement, so unsigned addition is right for negative limbs.
using Limb = unsigned long long;

template <int kFolds>
TESSERA_HD FoldedSum<kFolds> folded(const Limb (&limbs)[kFolds]) {
  FoldedSum<kFolds> sum;
  for (int f = 0; f < kFolds; ++f) sum.limbs[f] = static_cast<std::int64_t>(limbs[f]);
  return sum;
}

/// VectorSums as kernels add to them.
struct DeviceSums {
  Limb change_l1[ExactSum::kFolds];
  Limb change_squares[WideExactSum::kFolds];
  Limb total[ExactSum::kFolds];
  Limb dangling[ExactSum::kFolds];
  Limb change_max;  ///< the bits of a double that is not negative: they order as the numbers do
};
inline constexpr unsigned kSumWords = sizeof(DeviceSums) / sizeof(Limb);

/// Half of a word on its way to the host, with the number of its outbox: 8 bytes, which a device writes at
/// once, so that whoever finds the number finds the half. A fence before a number for all of them would hold
/// up the kernel, and the one after it, until the host's memory has answered.
struct SentHalf {
  std::uint32_t half = 0, number = 0;
};
inline constexpr unsigned kHalves = 2;  // of a word: the lower, the upper

/// What a kernel adds its sums to, and where its last block puts them.
struct SumsOutbox {
  DeviceSums* sums = nullptr;       ///< num_vectors, zeros before and after
  unsigned* blocks_done = nullptr;  ///< 0 before and after
  SentHalf* host = nullptr;         ///< kHalves * kSumWords * num_vectors in page-locked host memory
  std::uint32_t number = 0;
  unsigned num_vectors = 0;
};

/// Brings the sums of one update at a time to the host, which can do other things until it needs them. No
/// copy and no event: a step of a small graph is short beside them.
class SumsMailbox {
 public:
  SumsMailbox() = default;
  ~SumsMailbox();
  SumsMailbox(const SumsMailbox&) = delete;
  SumsMailbox& operator=(const SumsMailbox&) = delete;

  /// For the next kernel on the default stream, which must send them, or leave all as it is, or send those of
  /// the first vectors: then nobody may receive the others. The one before must have ended, or go before it
  /// there; its sums are given up if nobody has received them, though it may still send some. For more
  /// vectors than ever before this waits for the device: no exchange may be under way then.
  SumsOutbox open(std::size_t num_vectors);
  /// Waits for the sums that the outbox of this number was for. Only the latest can be had. Throws
  /// ResourceError when the device has failed meanwhile.
  std::vector<VectorSums> receive(std::uint32_t number);
  /// The same for one vector, as kernels may send some while they go on.
  VectorSums receive(std::uint32_t number, std::size_t vector);

 private:
  void make_room(std::size_t num_vectors);
  /// Of half i, once it is there.
  std::optional<std::uint32_t> look_for(std::size_t i) const;
  std::uint32_t wait_for(std::size_t i) const;
  std::size_t num_vectors_ = 0, capacity_ = 0;
  std::uint32_t number_ = 0;   // after 2^32 comes 0, which no half has that was sent lately
  Buffer<DeviceSums> device_;  // one more than there is room for: blocks_done
  SentHalf* host_ = nullptr;   // page-locked
};

}  // namespace tessera::cuda
