// A stream beside the one that builds use: for a kernel that leaves room on the device, or that what follows
// need not wait for, and for what the host reads while the device goes on.
#pragma once
#include <optional>
#include <vector>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/device_stream.hpp"

namespace tessera::cuda {

/// Between fork() and join() what is launched on stream() may run at the same time as the rest. It must not
/// use what the rest changes, and arrays that it uses live until join().
template <class Memory>
class SideStream;

template <>
class SideStream<HostMemory> {
 public:
  cudaStream_t stream() const { return nullptr; }
  void fork() {}
  void join() {}
  void settle() {}
  template <class T, class F>
  std::vector<T> to_host(const T* from, std::uint64_t count, const F& meanwhile) {
    std::vector<T> host = HostMemory::to_host(from, count);
    meanwhile();
    return host;
  }
};

template <>
class SideStream<DeviceMemory> {
 public:
  SideStream() = default;
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  ~SideStream() { settle(); }

  /// After fork().
  cudaStream_t stream() const { return stream_->get(); }
  /// The first call makes the stream: it takes the host some time, which is best while a device has work.
  void fork() {
    if (!stream_) {
      stream_.emplace();
      passed_.emplace(cudaEventDisableTiming);
    }
    passed_->record(nullptr);
    TESSERA_CUDA_CALL(cudaStreamWaitEvent(stream(), passed_->get()));
    is_forked_ = true;
  }
  void join() {
    passed_->record(stream());
    TESSERA_CUDA_CALL(cudaStreamWaitEvent(nullptr, passed_->get()));
    is_forked_ = false;
  }
  /// Where something has failed before join(): waits, so that arrays may be freed.
  void settle() {
    if (is_forked_) (void)cudaStreamSynchronize(stream());
    is_forked_ = false;
  }

  /// What lies there behind all that was launched so far; what meanwhile() launches, which must not change
  /// it, need not end before. Not between fork() and join().
  template <class T, class F>
  std::vector<T> to_host(const T* from, std::uint64_t count, const F& meanwhile) {
    require(!is_forked_, "what is under way beside is joined first");
    fork();
    meanwhile();
    std::vector<T> host(count);
    if (count > 0)
      TESSERA_CUDA_CALL(
          cudaMemcpyAsync(host.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream()));
    TESSERA_CUDA_CALL(cudaStreamSynchronize(stream()));
    is_forked_ = false;
    return host;
  }

 private:
  std::optional<DeviceStream> stream_;
  std::optional<DeviceEvent> passed_;
  bool is_forked_ = false;
};

}  // namespace tessera::cuda
