#include "kernels/cuda/small_blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {
namespace {

constexpr std::size_t kLeastBytes = 256;                  // what blocks are aligned to
constexpr std::size_t kSlabBytes = std::size_t{1} << 24;  // that blocks are cut from

/// A block's bytes are a power of two.
unsigned power_of(std::size_t num_bytes) {
  return static_cast<unsigned>(std::bit_width(std::max(num_bytes, kLeastBytes) - 1));
}

/// Of one device.
class Blocks {
 public:
  void* take(std::size_t num_bytes) {
    const std::lock_guard lock(mutex_);
    SizeOfBlocks& all = sizes_[power_of(num_bytes)];
    void* const block = all.kept.empty() ? cut(all, std::size_t{1} << power_of(num_bytes)) : all.kept.back();
    if (block == nullptr) return nullptr;
    if (!all.kept.empty()) all.kept.pop_back();
    ++num_in_use_;
    return block;
  }
  bool keep(void* memory, std::size_t num_bytes) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::none_of(
            slabs_, [=](const std::byte* slab) { return memory >= slab && memory < slab + kSlabBytes; }))
      return false;
    sizes_[power_of(num_bytes)].kept.push_back(memory);
    --num_in_use_;
    return true;
  }
  void give_back() {
    std::vector<std::byte*> slabs;
    {
      const std::lock_guard lock(mutex_);
      if (num_in_use_ > 0) return;
      sizes_ = {};
      left_ = 0;
      slabs.swap(slabs_);
    }
    for (std::byte* const slab : slabs) (void)cudaFree(slab);  // which may wait for what a device has to do
  }

 private:
  struct SizeOfBlocks {
    std::size_t num_cut = 0;
    std::vector<void*> kept;  // has room for all that were cut
  };

  /// What is left of the last slab where that is too small stays unused.
  void* cut(SizeOfBlocks& all, std::size_t num_bytes) {
    all.kept.reserve(all.num_cut + 1);
    if (left_ < num_bytes) {
      void* slab = nullptr;
      slabs_.reserve(slabs_.size() + 1);
      if (lacks_memory(cudaMalloc(&slab, kSlabBytes), "cudaMalloc")) return nullptr;
      slabs_.push_back(static_cast<std::byte*>(slab));
      left_ = kSlabBytes;
    }
    left_ -= num_bytes;
    ++all.num_cut;
    return slabs_.back() + left_;
  }

  std::mutex mutex_;
  std::array<SizeOfBlocks, std::bit_width(SmallBlocks::kMostBytes)> sizes_;
  std::vector<std::byte*> slabs_;
  std::size_t left_ = 0;  // bytes of the last slab
  std::size_t num_in_use_ = 0;
};

class BlocksOfDevices {
 public:
  Blocks& of_device_in_use() {
    int device = 0;
    TESSERA_CUDA_CALL(cudaGetDevice(&device));
    const std::lock_guard lock(mutex_);
    return blocks_[device];
  }
  /// Memory may be freed where another device is in use.
  bool keep(void* memory, std::size_t num_bytes) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(blocks_, [=](auto& of) { return of.second.keep(memory, num_bytes); });
  }

 private:
  std::mutex mutex_;
  std::map<int, Blocks> blocks_;  // which stay where they are
};
/// Never destroyed: the driver may be gone before.
BlocksOfDevices& all_blocks() {
  static BlocksOfDevices& all = *new BlocksOfDevices;
  return all;
}

bool are_wanted() {
  static const bool wanted = [] {
    const char* const setting = std::getenv("TESSERA_SMALL_BLOCKS");
    return setting == nullptr || std::string_view(setting) != "0";
  }();
  return wanted;
}

}  // namespace

void* SmallBlocks::take(std::size_t num_bytes) {
  if (num_bytes > kMostBytes || !are_wanted()) return nullptr;
  return all_blocks().of_device_in_use().take(num_bytes);
}

bool SmallBlocks::keep(void* memory, std::size_t num_bytes) noexcept {
  if (num_bytes > kMostBytes) return false;
  return all_blocks().keep(memory, num_bytes);
}

void SmallBlocks::give_back() { all_blocks().of_device_in_use().give_back(); }

}  // namespace tessera::cuda
