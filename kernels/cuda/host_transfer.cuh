// Arrays on their way between the host and a Memory. What a device copies by itself must lie in page-locked
// memory, and one thread fills or empties that at a fraction of the device's rate: here all threads do, while
// the piece before is on its way.
#pragma once
#include <array>
#include <optional>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/device_stream.hpp"

#ifndef _OPENMP
#error "one thread alone would copy: host code of CUDA sources needs the compiler's flag for OpenMP"
#endif

namespace tessera::cuda {

template <class Memory>
class HostTransfer;

template <>
class HostTransfer<HostMemory> {
 public:
  /// As many elements, converted. `from` may change when it returns, `to` is there for work behind it.
  template <class From, class To>
  void send(const From* from, std::uint64_t count, To* to) {
    for (std::uint64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
  }
  /// Behind the work before; the elements are there when it returns.
  template <class T>
  void receive(const T* from, std::uint64_t count, T* to) {
    HostMemory::download(from, to, count * sizeof(T));
  }
};

template <>
class HostTransfer<DeviceMemory> {
 public:
  HostTransfer() = default;
  ~HostTransfer() {
    for (Piece& piece : pieces_)
      if (piece.passed && may_free()) (void)cudaEventSynchronize(piece.passed->get());
  }
  HostTransfer(const HostTransfer&) = delete;
  HostTransfer& operator=(const HostTransfer&) = delete;

  template <class From, class To>
  void send(const From* from, std::uint64_t count, To* to) {
    constexpr std::uint64_t kMost = kPieceBytes / sizeof(To);
    for (std::uint64_t first = 0; first < count; first += kMost) {
      const std::uint64_t size = std::min(kMost, count - first);
      Piece& piece = free_piece(size * sizeof(To));
      copy_elements(from + first, size, reinterpret_cast<To*>(piece.memory.data()));
      DeviceMemory::upload(piece.memory.data(), to + first, size * sizeof(To));
      piece.passed->record(nullptr);
    }
  }

  template <class T>
  void receive(const T* from, std::uint64_t count, T* to) {
    constexpr std::uint64_t kMost = kPieceBytes / sizeof(T), kAhead = kPieces - 1;
    const std::uint64_t num_pieces = ceil_div(count, kMost);
    std::array<Piece*, kPieces> on_their_way{};
    for (std::uint64_t i = 0; i < num_pieces + kAhead; ++i) {
      if (i < num_pieces) {
        const std::size_t num_bytes = std::min(kMost, count - i * kMost) * sizeof(T);
        Piece& piece = free_piece(num_bytes);
        TESSERA_CUDA_CALL(
            cudaMemcpyAsync(piece.memory.data(), from + i * kMost, num_bytes, cudaMemcpyDeviceToHost));
        piece.passed->record(nullptr);
        on_their_way[i % kPieces] = &piece;
      }
      if (i < kAhead || i - kAhead >= num_pieces) continue;
      const std::uint64_t first = (i - kAhead) * kMost;
      Piece& piece = *on_their_way[(i - kAhead) % kPieces];
      piece.passed->wait();
      copy_elements(reinterpret_cast<const T*>(piece.memory.data()), std::min(kMost, count - first),
                    to + first);
    }
  }

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{8} << 20;  // to lock pages takes time
  static constexpr std::size_t kPieces = 3;
  struct Piece {
    BuildVector<PinnedMemory, char> memory;
    std::optional<DeviceEvent> passed;
  };

  template <class From, class To>
  static void copy_elements(const From* from, std::uint64_t count, To* to) {
#pragma omp parallel for schedule(static)
    for (std::uint64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
  }

  /// The one that was used longest ago, with room for so many bytes.
  Piece& free_piece(std::size_t num_bytes) {
    Piece& piece = pieces_[next_];
    next_ = (next_ + 1) % kPieces;
    if (piece.passed) piece.passed->wait();
    if (piece.memory.size() < num_bytes) piece.memory = BuildVector<PinnedMemory, char>(num_bytes);
    if (!piece.passed) piece.passed.emplace(cudaEventDisableTiming);
    return piece;
  }

  std::array<Piece, kPieces> pieces_;
  std::size_t next_ = 0;
};

}  // namespace tessera::cuda
