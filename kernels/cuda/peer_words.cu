#include "kernels/cuda/peer_words.hpp"

#include "kernels/base/error.hpp"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/peer_memory.hpp"

namespace tessera::cuda {
namespace {

struct Places {
  std::uint64_t* of[kMostSharingRanks];
};

__global__ void put_word_kernel(const __grid_constant__ Places places, std::uint64_t word) {
  *places.of[threadIdx.x] = word;
  __threadfence_system();
}

}  // namespace

void put_word(std::span<void* const> others, unsigned place, std::uint64_t word) {
  require(others.size() <= kMostSharingRanks, "so many ranks share memory");
  if (others.empty()) return;
  Places places{};
  for (std::size_t i = 0; i < others.size(); ++i)
    places.of[i] = static_cast<std::uint64_t*>(others[i]) + place;
  put_word_kernel<<<1, static_cast<unsigned>(others.size())>>>(places, word);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

}  // namespace tessera::cuda
