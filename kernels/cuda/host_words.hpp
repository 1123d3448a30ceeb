// Words that kernels tell the host while others behind them run: it looks at them where they are told, which
// is some 10 us sooner than a copy that it waits for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {

/// In page-locked memory, which a device writes to.
class HostWords {
 public:
  static constexpr std::uint64_t kUntold = ~std::uint64_t{0};  ///< which no kernel tells

  HostWords() = default;
  HostWords(const HostWords&) = delete;
  HostWords& operator=(const HostWords&) = delete;
  ~HostWords();

  /// So many, untold, for kernels on the default stream, or `beside` it, to tell each of once. Throws
  /// NoRoomError.
  std::uint64_t* clear(std::size_t count, cudaStream_t beside);
  /// Until all are told by kernels that are launched on these streams; they are there until the next clear().
  /// Throws ResourceError where kernels fail.
  std::span<const std::uint64_t> wait(cudaStream_t beside);

 private:
  void make_room(std::size_t count);

  std::uint64_t* words_ = nullptr;
  std::size_t count_ = 0, room_ = 0;
  bool are_awaited_ = false;  // some may be told yet
};

}  // namespace tessera::cuda
