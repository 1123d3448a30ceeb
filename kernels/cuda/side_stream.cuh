// A stream beside the one that builds use: for a kernel that leaves room on the device, or that what follows
// need not wait for, and for what the host reads while the device goes on.
#pragma once
#include <algorithm>
#include <cuda/atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/device_stream.hpp"
#include "kernels/cuda/host_words.hpp"

namespace tessera::cuda {

/// What stands for HostWords where there is no device.
class PlainWords {
 public:
  std::uint64_t* clear(std::size_t count, cudaStream_t) {
    words_.assign(count, HostWords::kUntold);
    return words_.data();
  }
  std::span<const std::uint64_t> wait(cudaStream_t) const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

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
  PlainWords words;
};

/// value: not kUntold. word: of SideStream::words_to_tell().
__host__ __device__ inline void tell_host(std::uint64_t* word, std::uint64_t value) {
#ifdef __CUDA_ARCH__
  ::cuda::atomic_ref<std::uint64_t, ::cuda::thread_scope_system>(*word).store(value,
                                                                              ::cuda::memory_order_relaxed);
#else
  *word = value;
#endif
}

/// A block a multiprocessor of the device in use: so many run together. What is launched behind a kernel on a
/// stream beside begins when all of its blocks have, so that it has no more than these, and loops.
inline unsigned blocks_beside() {
  int device = 0, num_multiprocessors = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&num_multiprocessors, cudaDevAttrMultiProcessorCount, device));
  return static_cast<unsigned>(num_multiprocessors);
}

/// A stream of the device in use that waits for the default stream, or is waited for there.
class StreamBeside {
 public:
  StreamBeside() { TESSERA_CUDA_CALL(cudaGetDevice(&device_)); }
  int device() const { return device_; }
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
  HostWords words;

 private:
  int device_ = 0;
  DeviceStream stream_;
  DeviceEvent passed_{cudaEventDisableTiming};
};

/// Streams that nobody uses, kept until the process ends: where one is destroyed while it has work, the next
/// that waits for the device waits some 50 to 300 us longer (H200).
class KeptStreams {
 public:
  /// Of the device in use.
  static std::unique_ptr<StreamBeside> take() {
    int device = 0;
    TESSERA_CUDA_CALL(cudaGetDevice(&device));
    KeptStreams& all = instance();
    const std::lock_guard lock(all.mutex_);
    const auto found = std::find_if(all.streams_.rbegin(), all.streams_.rend(),
                                    [=](const auto& stream) { return stream->device() == device; });
    if (found == all.streams_.rend()) {
      all.streams_.reserve(all.num_made_ + 1);  // so that keep() finds room
      auto made = std::make_unique<StreamBeside>();
      ++all.num_made_;
      return made;
    }
    auto stream = std::move(*found);
    all.streams_.erase(std::next(found).base());
    return stream;
  }
  static void keep(std::unique_ptr<StreamBeside> stream) noexcept {
    KeptStreams& all = instance();
    const std::lock_guard lock(all.mutex_);
    all.streams_.push_back(std::move(stream));
  }

 private:
  /// Never destroyed: the driver may be gone before.
  static KeptStreams& instance() {
    static KeptStreams& all = *new KeptStreams;
    return all;
  }

  std::mutex mutex_;
  std::size_t num_made_ = 0;
  std::vector<std::unique_ptr<StreamBeside>> streams_;
};

/// Between fork() and join() what is launched on stream() may run at the same time as the rest. It must not
/// use what the rest changes, and arrays that it uses are there before fork() or follow() and live until
/// join().
template <class Memory>
class SideStream {
 public:
  SideStream() = default;
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  ~SideStream() {
    settle();
    if constexpr (kOnDevice)
      if (beside_) KeptStreams::keep(std::move(beside_));
  }

  /// After fork().
  cudaStream_t stream() const { return beside_->get(); }
  /// The first call may make the stream: it takes the host some time, which is best while a device has work.
  void fork() {
    require(!is_forked_, "what is under way beside is joined first");
    have_beside();
    beside_->begin_here();
    is_forked_ = true;
  }
  /// After fork(): what is launched on stream() from now on waits for all that was launched on the default
  /// stream so far, and may use arrays that came after fork().
  void follow() {
    require(is_forked_, "nothing is under way beside");
    beside_->begin_here();
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

  /// `count` words for kernels on the default stream, or on stream(), to tell the host (tell_host()), each
  /// once.
  std::uint64_t* words_to_tell(std::size_t count) {
    have_beside();
    return beside_->words.clear(count, beside_->get());
  }
  /// Waits until all are told; they are there until others are asked for.
  std::span<const std::uint64_t> told_words() { return beside_->words.wait(beside_->get()); }

  /// Settles as it goes: behind arrays that are used beside, so that these are freed after that.
  struct Settled {
    SideStream& side;
    ~Settled() { side.settle(); }
  };

 private:
  static constexpr bool kOnDevice = std::is_same_v<Memory, DeviceMemory>;
  void have_beside() {
    if (beside_) return;
    if constexpr (kOnDevice)
      beside_ = KeptStreams::take();
    else
      beside_ = std::make_unique<PlainStream>();
  }
  std::unique_ptr<std::conditional_t<kOnDevice, StreamBeside, PlainStream>> beside_;
  bool is_forked_ = false;
};

}  // namespace tessera::cuda
