// Small arrays that kernels read or fill for the host: uploaded or zeroed at construction, freed at the end.
#pragma once
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {

template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// `size` elements of zero bytes.
  explicit DeviceArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    TESSERA_CUDA_CALL(cudaMallocAsync(reinterpret_cast<void**>(&data_), size * sizeof(T), nullptr));
    TESSERA_CUDA_CALL(cudaMemsetAsync(data_, 0, size * sizeof(T), nullptr));
  }
  explicit DeviceArray(std::span<const T> host) : DeviceArray(host.size()) {
    if (size_ != 0)
      TESSERA_CUDA_CALL(
          cudaMemcpyAsync(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice, nullptr));
  }
  ~DeviceArray() {
    if (data_ != nullptr) cudaFreeAsync(data_, nullptr);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() { return data_; }
  /// Waits for the kernels before.
  std::vector<T> download() const {
    std::vector<T> host(size_);
    if (size_ != 0)
      TESSERA_CUDA_CALL(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tessera::cuda
