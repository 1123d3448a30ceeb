// Arrays of the host on their way to a Memory. What a device copies by itself must lie in page-locked memory,
// and one thread fills that at a fraction of what the device takes: here all threads do, a piece ahead.
#pragma once
#include <array>
#include <optional>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/device_stream.hpp"

#ifndef _OPENMP
#error "one thread alone would send: host code of CUDA sources needs the compiler's flag for OpenMP"
#endif

namespace tessera::cuda {

template <class Memory>
class HostSender;

template <>
class HostSender<HostMemory> {
 public:
  /// As many elements, converted. `from` may change when it returns, `to` is there for work behind it.
  template <class From, class To>
  void send(const From* from, std::uint64_t count, To* to) {
    for (std::uint64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
  }
};

template <>
class HostSender<DeviceMemory> {
 public:
  HostSender() = default;
  ~HostSender() {
    for (Piece& piece : pieces_)
      if (piece.sent && may_free()) (void)cudaEventSynchronize(piece.sent->get());
  }
  HostSender(const HostSender&) = delete;
  HostSender& operator=(const HostSender&) = delete;

  template <class From, class To>
  void send(const From* from, std::uint64_t count, To* to) {
    constexpr std::uint64_t kMost = kPieceBytes / sizeof(To);
    for (std::uint64_t first = 0; first < count; first += kMost) {
      const std::uint64_t size = std::min(kMost, count - first);
      Piece& piece = free_piece(size * sizeof(To));
      To* staged = reinterpret_cast<To*>(piece.memory.data());
#pragma omp parallel for schedule(static)
      for (std::uint64_t i = 0; i < size; ++i) staged[i] = static_cast<To>(from[first + i]);
      DeviceMemory::upload(staged, to + first, size * sizeof(To));
      piece.sent->record(nullptr);
    }
  }

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{8} << 20;  // to lock pages takes time
  struct Piece {
    BuildVector<PinnedMemory, char> memory;
    std::optional<DeviceEvent> sent;
  };

  /// The one that was sent longest ago, with room for so many bytes.
  Piece& free_piece(std::size_t num_bytes) {
    Piece& piece = pieces_[next_];
    next_ = (next_ + 1) % pieces_.size();
    if (piece.sent) piece.sent->wait();
    if (piece.memory.size() < num_bytes) piece.memory = BuildVector<PinnedMemory, char>(num_bytes);
    if (!piece.sent) piece.sent.emplace(cudaEventDisableTiming);
    return piece;
  }

  std::array<Piece, 3> pieces_;
  std::size_t next_ = 0;
};

}  // namespace tessera::cuda
