#include "kernels/cuda/cuda_devices.hpp"

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/probe_kernel.hpp"

namespace tessera::cuda {

int num_devices() {
  int count = 0;
  const bool answers = cudaGetDeviceCount(&count) == cudaSuccess;
  (void)cudaGetLastError();
  return answers ? count : 0;
}

void use_device(int index) { TESSERA_CUDA_CALL(cudaSetDevice(index)); }

namespace {

cudaDeviceProp properties_of(int device) {
  cudaDeviceProp properties;
  TESSERA_CUDA_CALL(cudaGetDeviceProperties(&properties, device));
  return properties;
}
cudaDeviceProp properties_of_device() {
  int device = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  return properties_of(device);
}

bool has_memory_pools() {
  int device = 0, has = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&has, cudaDevAttrMemoryPoolsSupported, device));
  return has != 0;
}

}  // namespace

std::string device_problem() {
  const cudaError_t status = run_probe_kernel();
  if (status == cudaSuccess)
    return has_memory_pools() ? "" : "the GPU has no memory pools (a virtual one?); use --backend cpu";
  (void)cudaGetLastError();  // which would fail the next call
  if (status != cudaErrorNoKernelImageForDevice && status != cudaErrorInvalidDeviceFunction &&
      status != cudaErrorUnsupportedPtxVersion)
    return std::string("the GPU does not answer (") + cudaGetErrorString(status) + "); use --backend cpu";
  const cudaDeviceProp properties = properties_of_device();
  const std::string major = std::to_string(properties.major), minor = std::to_string(properties.minor);
  return std::string("this program has no code for the ") + properties.name + " (compute capability " +
         major + "." + minor + "); build it with -DCMAKE_CUDA_ARCHITECTURES=" + major + minor +
         ", or use --backend cpu";
}

std::string device_name() { return properties_of_device().name; }

std::string device_uuid(int index) {
  std::string text;
  for (const char byte : properties_of(index).uuid.bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(byte) / 16];
    text += kDigits[static_cast<unsigned char>(byte) % 16];
  }
  return text;
}

}  // namespace tessera::cuda
