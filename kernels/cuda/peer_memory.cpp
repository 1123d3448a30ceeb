#include "kernels/cuda/peer_memory.hpp"

#include <algorithm>
#include <random>
#include <string>

#include "kernels/base/boot_id.hpp"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/device_memory.hpp"

namespace tessera::cuda {
namespace {

/// Numbers of processes are the same in several containers of one system.
std::uint64_t this_process() {
  static const std::uint64_t number = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return number;
}

/// So that what is offered shares its pages with nothing else.
constexpr std::uint64_t kGranularity = std::uint64_t{2} << 20;

/// What cannot be done is not an error, and must not be taken for one of later calls.
bool works(cudaError_t status) {
  if (status == cudaSuccess) return true;
  (void)cudaGetLastError();
  return false;
}

}  // namespace

bool wants_peers(const char* disabled, const char* level) {
  const std::string farthest = level == nullptr ? "" : level;
  return (disabled == nullptr || std::string(disabled) == "0") && farthest != "LOC" && farthest != "0";
}

PeerMemory::PeerMemory(std::uint64_t num_bytes)
    : num_bytes_(num_bytes), own_(allocate_device(round_up(num_bytes, kGranularity))) {}

PeerMemory::~PeerMemory() {
  if (!may_free()) return;
  for (void* address : opened_) (void)works(cudaIpcCloseMemHandle(address));
}

MemoryOffer PeerMemory::offer() const {
  MemoryOffer offer;
  TESSERA_CUDA_CALL(cudaGetDevice(&offer.device));
  offer.process = this_process();
  offer.address = own_.get();
  if (works(cudaIpcGetMemHandle(&offer.handle, own_.get())))
    boot_id().copy(offer.system.data(), offer.system.size() - 1);
  return offer;
}

bool PeerMemory::open(std::span<const MemoryOffer> offers, int rank) {
  const MemoryOffer& mine = offers[static_cast<std::size_t>(rank)];
  const auto is_here = [&](const MemoryOffer& offer) {
    return offer.is_made() && offer.system == mine.system;
  };
  if (!std::ranges::all_of(offers, is_here)) return false;
  for (const MemoryOffer& offer : offers)
    if (&offer != &mine && !open(offer)) return false;
  return true;
}

bool PeerMemory::open(const MemoryOffer& offer) {
  void* address = offer.address;
  if (offer.process == this_process()) {
    const cudaError_t status = cudaDeviceEnablePeerAccess(offer.device, 0);
    if (!works(status) && status != cudaErrorPeerAccessAlreadyEnabled) return false;
  } else {
    if (!works(cudaIpcOpenMemHandle(&address, offer.handle, cudaIpcMemLazyEnablePeerAccess))) return false;
    opened_.push_back(address);
  }
  others_.push_back(address);
  return true;
}

}  // namespace tessera::cuda
