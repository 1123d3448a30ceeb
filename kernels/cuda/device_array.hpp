// Small arrays that the next kernels read: uploaded at construction, freed after them.
#pragma once
#include <span>
#include <type_traits>

#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {

template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit DeviceArray(std::span<const T> host) : DeviceArray() {
    if (host.empty()) return;
    TESSERA_CUDA_CALL(cudaMallocAsync(reinterpret_cast<void**>(&data_), host.size_bytes(), nullptr));
    TESSERA_CUDA_CALL(
        cudaMemcpyAsync(data_, host.data(), host.size_bytes(), cudaMemcpyHostToDevice, nullptr));
  }
  ~DeviceArray() {
    if (data_ != nullptr) cudaFreeAsync(data_, nullptr);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() { return data_; }

 private:
  DeviceArray() = default;  // what is constructed by this first is destroyed even when the copy fails

  T* data_ = nullptr;
};

}  // namespace tessera::cuda
