#include "kernels/cuda/sum_words.hpp"

#include <map>
#include <mutex>

#include "kernels/base/error.hpp"
#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {
namespace {

/// Of all devices; never destroyed: the driver may be gone before.
class KeptWords {
 public:
  static KeptWords& instance() {
    static KeptWords& all = *new KeptWords;
    return all;
  }

  SumWords next() {
    int device = 0;
    TESSERA_CUDA_CALL(cudaGetDevice(&device));
    const std::lock_guard lock(mutex_);
    SumWords& words = words_[device];
    if (words.words == nullptr) words.words = make();
    ++words.launch;
    if (words.launch == 0) ++words.launch;  // what new words say
    return words;
  }

 private:
  static unsigned long long* make() {
    constexpr std::size_t kBytes = 2 * sizeof(unsigned long long) * SumWords::kMostBlocks;
    void* words = nullptr;
    if (lacks_memory(cudaMalloc(&words, kBytes), "cudaMalloc"))
      throw NoRoomError("the GPU has no room to build the matrix; use --pack host or more GPUs");
    TESSERA_CUDA_CALL(cudaMemset(words, 0, kBytes));
    return static_cast<unsigned long long*>(words);
  }

  std::mutex mutex_;
  std::map<int, SumWords> words_;
};

}  // namespace

SumWords SumWords::next() { return KeptWords::instance().next(); }

}  // namespace tessera::cuda
