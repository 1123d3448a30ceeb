// Device memory of one size on every rank of a machine, which the kernels of all ranks write.
#pragma once
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tessera::cuda {

/// Ranks whose memory a kernel reaches, its own among them.
inline constexpr int kMostSharingRanks = 16;

/// What a rank says of its memory to the others; plain bytes.
struct MemoryOffer {
  std::array<char, 40> system = {};  ///< empty: it is not offered
  std::uint64_t process = 0;         ///< told from every other one by chance
  int device = 0;
  void* address = nullptr;         ///< within that process
  cudaIpcMemHandle_t handle = {};  ///< for all others

  bool is_made() const { return system.front() != '\0'; }
};

/// Whether ranks write to each other's memory, by NCCL's environment variables NCCL_P2P_DISABLE and
/// NCCL_P2P_LEVEL (null: not set): who tells NCCL not to go from GPU to GPU means this, too.
bool wants_peers(const char* disabled, const char* level);

class PeerMemory {
 public:
  /// Memory of this rank's, so many bytes; throws NoRoomError. It may be freed when all ranks' PeerMemory is
  /// gone, not before: who shares it keeps it until then (`own`).
  explicit PeerMemory(std::uint64_t num_bytes);
  /// Ends this rank's way to what the others offered.
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  const std::shared_ptr<void>& own() const { return own_; }
  std::uint64_t num_bytes() const { return num_bytes_; }
  MemoryOffer offer() const;
  /// Finds a way to what every rank has offered; whether there is one to all of it.
  bool open(std::span<const MemoryOffer> offers, int rank);
  /// After open(): of the other ranks, in their order.
  std::span<void* const> others() const { return others_; }

 private:
  bool open(const MemoryOffer& offer);

  std::uint64_t num_bytes_;
  std::shared_ptr<void> own_;
  std::vector<void*> others_, opened_;
};

}  // namespace tessera::cuda
