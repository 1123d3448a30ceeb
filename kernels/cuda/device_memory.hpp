// Device memory as Buffers, and copies of host arrays in it.
#pragma once
#include <exception>
#include <memory>
#include <span>

#include "kernels/base/buffer.hpp"
#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {

/// Null for 0 bytes. Takes back what lies unused in the pool where it must. Throws NoRoomError with the
/// figures when there is not enough.
std::shared_ptr<void> allocate_device(std::size_t num_bytes);

/// Of memory that comes and goes, on the device in use.
cudaMemPool_t pool_of_device();
/// The pool keeps what is freed from now on.
void keep_pool();
/// What lies unused in the pool, and among small blocks, goes back to the device.
void empty_pool();
/// Of the device, what lies unused in the pool among them.
std::uint64_t free_device_bytes();

/// From now on nothing is freed: that would wait for the device, which no longer ends what it does. For a
/// process that is about to end.
void abandon_device_memory();
/// Between these devices exchange something for the first time: an error on its way up leaves memory alone.
void begin_linking();
void end_linking();
/// Whether something may be freed now.
bool may_free();

/// Knows whether an exchange between devices is under way. An error on its way up leaves memory alone
/// meanwhile: the rank that the exchange waits for may be gone, and freeing anything waits for the exchange.
/// What is freed behind this by the same error is left alone, too: it does not end the exchange.
class ExchangeWatch {
 public:
  ExchangeWatch() = default;
  ~ExchangeWatch() {
    if (std::uncaught_exceptions() == 0) end();
  }
  ExchangeWatch(const ExchangeWatch&) = delete;
  ExchangeWatch& operator=(const ExchangeWatch&) = delete;
  void begin();
  void end();
  bool is_under_way() const { return is_under_way_; }

 private:
  bool is_under_way_ = false;
};

/// Uninitialised.
template <class T>
Buffer<T> device_buffer(std::size_t size) {
  auto memory = allocate_device(checked_mul(size, sizeof(T)));
  T* data = static_cast<T*>(memory.get());
  return Buffer<T>(std::move(memory), data, size);
}

/// A copy of a host array in device memory.
template <class T>
Buffer<T> on_device(std::span<const T> host) {
  Buffer<T> device = device_buffer<T>(host.size());
  if (!host.empty())
    TESSERA_CUDA_CALL(cudaMemcpy(device.data(), host.data(), host.size_bytes(), cudaMemcpyHostToDevice));
  return device;
}
template <class T>
Buffer<T> on_device(const Buffer<T>& host) {
  return on_device(host.span());
}

/// A copy of a device array in host memory.
template <class T>
Buffer<T> on_host(const Buffer<T>& device) {
  Buffer<T> host(device.size());
  if (!device.empty())
    TESSERA_CUDA_CALL(cudaMemcpy(host.data(), device.data(), host.size_bytes(), cudaMemcpyDeviceToHost));
  return host;
}

}  // namespace tessera::cuda
