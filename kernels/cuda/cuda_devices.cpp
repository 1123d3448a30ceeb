#include "kernels/cuda/cuda_devices.hpp"

#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {

int num_devices() {
  int count = 0;
  const bool answers = cudaGetDeviceCount(&count) == cudaSuccess;
  (void)cudaGetLastError();
  return answers ? count : 0;
}

void use_device(int index) { TESSERA_CUDA_CALL(cudaSetDevice(index)); }

namespace {

cudaDeviceProp properties_of_device() {
  int device = 0;
  cudaDeviceProp properties;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaGetDeviceProperties(&properties, device));
  return properties;
}

}  // namespace

std::string device_name() { return properties_of_device().name; }

std::string device_uuid() {
  std::string text;
  for (const char byte : properties_of_device().uuid.bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(byte) / 16];
    text += kDigits[static_cast<unsigned char>(byte) % 16];
  }
  return text;
}

}  // namespace tessera::cuda
