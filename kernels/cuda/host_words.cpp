#include "kernels/cuda/host_words.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "kernels/base/error.hpp"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/device_memory.hpp"

namespace tessera::cuda {
namespace {

/// Looks of the host at a word, after which it asks whether kernels have failed.
constexpr unsigned kLooks = 1u << 12;

std::uint64_t look_at(std::uint64_t& word) {
  return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_relaxed);
}

/// Whether the stream has nothing left to do. Throws ResourceError of what has failed.
bool is_done(cudaStream_t stream) {
  const cudaError_t state = cudaStreamQuery(stream);
  if (state == cudaErrorNotReady) return false;
  TESSERA_CUDA_CALL(state);
  return true;
}

}  // namespace

HostWords::~HostWords() {
  if (words_ != nullptr && may_free()) (void)cudaFreeHost(words_);
}

void HostWords::make_room(std::size_t count) {
  if (count <= room_) return;
  constexpr std::size_t kLeast = std::size_t{1} << 13;
  const std::size_t room = std::bit_ceil(std::max(count, kLeast));
  void* words = nullptr;
  if (lacks_memory(cudaMallocHost(&words, room * sizeof(std::uint64_t)), "cudaMallocHost"))
    throw NoRoomError("the host has no page-locked memory left to build the matrix; use --pack host");
  if (words_ != nullptr) (void)cudaFreeHost(words_);
  words_ = static_cast<std::uint64_t*>(words);
  room_ = room;
}

std::uint64_t* HostWords::clear(std::size_t count, cudaStream_t beside) {
  if (are_awaited_) {
    TESSERA_CUDA_CALL(cudaStreamSynchronize(nullptr));
    TESSERA_CUDA_CALL(cudaStreamSynchronize(beside));
  }
  are_awaited_ = false;
  make_room(count);
  count_ = count;
  std::fill_n(words_, count, kUntold);
  are_awaited_ = true;
  return words_;
}

std::span<const std::uint64_t> HostWords::wait(cudaStream_t beside) {
  unsigned looks = 0;
  for (std::size_t i = 0; i < count_; ++i)
    while (look_at(words_[i]) == kUntold)
      if (++looks % kLooks == 0 && is_done(nullptr) && is_done(beside) && look_at(words_[i]) == kUntold)
        throw InternalError("a kernel did not tell what the host waits for");
  are_awaited_ = false;
  return {words_, count_};
}

}  // namespace tessera::cuda
