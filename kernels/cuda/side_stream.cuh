// A stream beside the one that builds use: for a kernel that leaves room on the device, or that what follows
// need not wait for, and for what the host reads while the device goes on.
#pragma once
#include <optional>
#include <type_traits>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/device_stream.hpp"

namespace tessera::cuda {

/// What stands for it where there is no device.
struct PlainStream {
  cudaStream_t get() const { return nullptr; }
  void begin_here() {}
  void end_here() {}
  void wait() const {}
  template <class T>
  void copy_to_host(const T* from, std::uint64_t count, T* to) {
    HostMemory::download(from, to, count * sizeof(T));
  }
};

/// A block a multiprocessor of the device in use: so many run together. What is launched behind a kernel on a
/// stream beside begins when all of its blocks have, so that it has no more than these, and loops.
inline unsigned blocks_beside() {
  int device = 0, num_multiprocessors = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&num_multiprocessors, cudaDevAttrMultiProcessorCount, device));
  return static_cast<unsigned>(num_multiprocessors);
}

/// A stream of the device that waits for the default stream, or is waited for there.
class StreamBeside {
 public:
  cudaStream_t get() const { return stream_.get(); }
  void begin_here() {
    passed_.record(nullptr);
    TESSERA_CUDA_CALL(cudaStreamWaitEvent(stream_.get(), passed_.get()));
  }
  void end_here() {
    passed_.record(stream_.get());
    TESSERA_CUDA_CALL(cudaStreamWaitEvent(nullptr, passed_.get()));
  }
  void wait() const { (void)cudaStreamSynchronize(stream_.get()); }
  template <class T>
  void copy_to_host(const T* from, std::uint64_t count, T* to) {
    if (count > 0)
      TESSERA_CUDA_CALL(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_.get()));
    TESSERA_CUDA_CALL(cudaStreamSynchronize(stream_.get()));
  }

 private:
  DeviceStream stream_;
  DeviceEvent passed_{cudaEventDisableTiming};
};

/// Between fork() and join() what is launched on stream() may run at the same time as the rest. It must not
/// use what the rest changes, and arrays that it uses are there before fork() and live until join().
template <class Memory>
class SideStream {
 public:
  SideStream() = default;
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  ~SideStream() { settle(); }

  /// After fork().
  cudaStream_t stream() const { return beside_->get(); }
  /// The first call makes the stream: it takes the host some time, which is best while a device has work.
  void fork() {
    require(!is_forked_, "what is under way beside is joined first");
    if (!beside_) beside_.emplace();
    beside_->begin_here();
    is_forked_ = true;
  }
  void join() {
    beside_->end_here();
    is_forked_ = false;
  }
  /// Where something has failed before join(): waits, so that arrays may be freed.
  void settle() {
    if (is_forked_) beside_->wait();
    is_forked_ = false;
  }

  /// What lies there behind all that was launched so far; what meanwhile() launches, which must not change
  /// it, need not end before. Not between fork() and join().
  template <class T, class F>
  std::vector<T> to_host(const T* from, std::uint64_t count, const F& meanwhile) {
    std::vector<T> host;  // before what waits, so that it is there as long
    fork();
    const Settled settled{*this};
    meanwhile();
    host.resize(count);  // which takes the host time that a device has work in
    beside_->copy_to_host(from, count, host.data());
    is_forked_ = false;
    return host;
  }

 private:
  struct Settled {
    SideStream& side;
    ~Settled() { side.settle(); }
  };

  std::optional<std::conditional_t<std::is_same_v<Memory, DeviceMemory>, StreamBeside, PlainStream>> beside_;
  bool is_forked_ = false;
};

}  // namespace tessera::cuda
