#include "kernels/cuda/device_memory.hpp"

#include <atomic>
#include <exception>
#include <string>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/cuda/small_blocks.hpp"

namespace tessera::cuda {
namespace {

std::atomic<bool> abandoned = false;
std::atomic<int> exchanges_under_way = 0, linkings_under_way = 0;

/// Null where there is not enough.
void* malloc_device(std::size_t num_bytes) {
  void* memory = nullptr;
  return lacks_memory(cudaMalloc(&memory, num_bytes), "cudaMalloc") ? nullptr : memory;
}

}  // namespace

cudaMemPool_t pool_of_device() {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetDefaultMemPool(&pool, device));
  return pool;
}

void keep_pool() {
  std::uint64_t keep_all = ~std::uint64_t{0};
  TESSERA_CUDA_CALL(cudaMemPoolSetAttribute(pool_of_device(), cudaMemPoolAttrReleaseThreshold, &keep_all));
}

void empty_pool() {
  SmallBlocks::give_back();
  TESSERA_CUDA_CALL(cudaStreamSynchronize(nullptr));
  TESSERA_CUDA_CALL(cudaMemPoolTrimTo(pool_of_device(), 0));
}

std::uint64_t free_device_bytes() {
  std::size_t free_bytes = 0, all_bytes = 0;
  TESSERA_CUDA_CALL(cudaMemGetInfo(&free_bytes, &all_bytes));
  std::uint64_t held = 0, used = 0;
  TESSERA_CUDA_CALL(cudaMemPoolGetAttribute(pool_of_device(), cudaMemPoolAttrReservedMemCurrent, &held));
  TESSERA_CUDA_CALL(cudaMemPoolGetAttribute(pool_of_device(), cudaMemPoolAttrUsedMemCurrent, &used));
  return free_bytes + held - used;
}

void abandon_device_memory() { abandoned = true; }
void begin_linking() { ++linkings_under_way; }
void end_linking() { --linkings_under_way; }
bool may_free() {
  const bool waits_for_ranks = exchanges_under_way > 0 || linkings_under_way > 0;
  return !abandoned && !(waits_for_ranks && std::uncaught_exceptions() > 0);
}

void ExchangeWatch::begin() {
  if (!std::exchange(is_under_way_, true)) ++exchanges_under_way;
}
void ExchangeWatch::end() {
  if (std::exchange(is_under_way_, false)) --exchanges_under_way;
}

std::shared_ptr<void> allocate_device(std::size_t num_bytes) {
  if (num_bytes == 0) return nullptr;
  void* memory = malloc_device(num_bytes);
  if (memory == nullptr && exchanges_under_way == 0) {  // emptying the pool would wait for them
    empty_pool();
    memory = malloc_device(num_bytes);
  }
  if (memory == nullptr) {
    std::size_t free_bytes = 0, all_bytes = 0;
    TESSERA_CUDA_CALL(cudaMemGetInfo(&free_bytes, &all_bytes));
    throw NoRoomError("the GPU has " + std::to_string(free_bytes) + " of " + std::to_string(all_bytes) +
                      " bytes free, " + std::to_string(num_bytes) +
                      " more are needed; use --precision f32 or --backend cpu");
  }
  return {memory, [](void* pointer) {
            if (may_free()) (void)cudaFree(pointer);
          }};
}

}  // namespace tessera::cuda
