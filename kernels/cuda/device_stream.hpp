// A stream of the device in use, and events on streams, owned.
#pragma once
#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {

/// Beside the default stream, and before it where both have work.
class DeviceStream {
 public:
  DeviceStream() {
    int lowest = 0, highest = 0;
    TESSERA_CUDA_CALL(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    TESSERA_CUDA_CALL(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, highest));
  }
  ~DeviceStream() { (void)cudaStreamDestroy(stream_); }
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class DeviceEvent {
 public:
  explicit DeviceEvent(unsigned flags = cudaEventDefault) {
    TESSERA_CUDA_CALL(cudaEventCreateWithFlags(&event_, flags));
  }
  ~DeviceEvent() { (void)cudaEventDestroy(event_); }
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  cudaEvent_t get() const { return event_; }
  /// Behind what the stream has to do so far; null: the default stream.
  void record(cudaStream_t stream) { TESSERA_CUDA_CALL(cudaEventRecord(event_, stream)); }
  /// Until it has passed.
  void wait() const { TESSERA_CUDA_CALL(cudaEventSynchronize(event_)); }
  /// Both have passed.
  double seconds_since(const DeviceEvent& earlier) const {
    float milliseconds = 0;
    TESSERA_CUDA_CALL(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace tessera::cuda
