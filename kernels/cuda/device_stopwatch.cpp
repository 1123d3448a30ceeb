#include "kernels/cuda/device_stopwatch.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <semaphore>

#include "kernels/base/seconds_since.hpp"
#include "kernels/cuda/device_stream.hpp"

namespace tessera::cuda {
namespace {

/// While it lives, the default stream waits, and work can be queued: afterwards one piece follows the other
/// however slow the host is. Gives way to a host that has to wait for it.
class HeldStream {
 public:
  HeldStream() {
    // wait() frees it; where the call fails nobody does, for the stream may have it all the same.
    TESSERA_CUDA_CALL(cudaLaunchHostFunc(nullptr, wait, std::make_unique<Gate>(gate_).release()));
  }
  ~HeldStream() { gate_->release(); }
  HeldStream(const HeldStream&) = delete;
  HeldStream& operator=(const HeldStream&) = delete;

 private:
  using Gate = std::shared_ptr<std::binary_semaphore>;  // the stream may come to it after this has gone
  static void wait(void* data) {
    const std::unique_ptr<Gate> gate(static_cast<Gate*>(data));
    constexpr std::chrono::milliseconds kLongest(20);
    static_cast<void>((*gate)->try_acquire_for(kLongest));
  }

  Gate gate_ = std::make_shared<std::binary_semaphore>(0);
};

double seconds_to_start(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return seconds_since(start);
}

}  // namespace

std::vector<PartTime> time_on_device(std::span<const PartWork> parts, int in_a_row) {
  // A launch takes the host 2 us or more, and some 1,000 of them fill a queue. Work of more is not held: it
  // is as long as the host takes to launch it.
  constexpr double kMostSeconds = 2e-3;
  std::vector<DeviceEvent> events(parts.size() + 1);
  const double to_start = parts.empty() ? 0 : seconds_to_start(parts[0].work);
  {
    std::optional<HeldStream> held;
    if (to_start * static_cast<double>(parts.size()) * in_a_row < kMostSeconds) held.emplace();
    events[0].record(nullptr);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (int k = 0; k < in_a_row; ++k) parts[i].work();
      events[i + 1].record(nullptr);
    }
  }
  events.back().wait();
  std::vector<PartTime> times;
  for (std::size_t i = 0; i < parts.size(); ++i)
    times.push_back({parts[i].name, events[i + 1].seconds_since(events[i]) / in_a_row});
  return times;
}

}  // namespace tessera::cuda
