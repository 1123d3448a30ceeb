#include "kernels/cuda/device_stopwatch.hpp"

#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {
namespace {

class Event {
 public:
  Event() { TESSERA_CUDA_CALL(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record() { TESSERA_CUDA_CALL(cudaEventRecord(event_, nullptr)); }
  void wait() const { TESSERA_CUDA_CALL(cudaEventSynchronize(event_)); }
  double seconds_since(const Event& earlier) const {
    float ms = 0;
    TESSERA_CUDA_CALL(cudaEventElapsedTime(&ms, earlier.event_, event_));
    return ms * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

std::vector<PartTime> time_on_device(std::span<const PartWork> parts, int in_a_row) {
  std::vector<Event> events(parts.size() + 1);
  if (!parts.empty()) parts[0].work();  // an idle device would wait for the first launch, and that be timed
  events[0].record();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (int k = 0; k < in_a_row; ++k) parts[i].work();
    events[i + 1].record();
  }
  events.back().wait();
  std::vector<PartTime> times;
  for (std::size_t i = 0; i < parts.size(); ++i)
    times.push_back({parts[i].name, events[i + 1].seconds_since(events[i]) / in_a_row});
  return times;
}

}  // namespace tessera::cuda
