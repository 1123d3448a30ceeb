#include "kernels/cuda/nccl_exchange.hpp"

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_vector_ops.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/profile_range.hpp"

namespace tessera::cuda {

template <class S>
NcclExchange<S>::NcclExchange(std::shared_ptr<NcclGroup> group, ExchangePlan plan)
    : group_(std::move(group)), plan_(std::move(plan)) {
  positions_ = on_device(std::span<const VertexId>(plan_.positions));
  slots_ = on_device(std::span<const VertexId>(plan_.slots));
  std::vector<VertexId>().swap(plan_.positions);
  std::vector<VertexId>().swap(plan_.slots);
  int lowest = 0, highest = 0;
  TESSERA_CUDA_CALL(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  TESSERA_CUDA_CALL(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, highest));
  TESSERA_CUDA_CALL(cudaEventCreate(&begun_));
  TESSERA_CUDA_CALL(cudaEventCreateWithFlags(&scaled_, cudaEventDisableTiming));
  placed_.resize(num_chunks());
  for (cudaEvent_t& event : placed_) TESSERA_CUDA_CALL(cudaEventCreate(&event));
}

template <class S>
NcclExchange<S>::~NcclExchange() {
  for (cudaEvent_t event : placed_) (void)cudaEventDestroy(event);
  (void)cudaEventDestroy(scaled_);
  (void)cudaEventDestroy(begun_);
  (void)cudaStreamDestroy(stream_);
}

template <class S>
InputTarget<S> NcclExchange<S>::inputs(unsigned num_vectors) {
  finish();  // it reads mine_
  if (mine_.size() < plan_.count * num_vectors) {
    mine_ = {};
    all_ = {};
    mine_ = device_buffer<S>(plan_.count * num_vectors);
    if (!slots_.empty()) all_ = device_buffer<S>(plan_.num_received() * num_vectors);
    TESSERA_CUDA_CALL(cudaMemset(mine_.data(), 0, mine_.size_bytes()));
  }
  return {&mine_, positions_.empty() ? nullptr : &positions_, plan_.num_mine};
}

template <class S>
void NcclExchange<S>::start(Buffer<S>& x, unsigned num_vectors) {
  const ProfileRange range("exchange");
  finish();
  // From here on the default stream neither reads the last x nor writes this one.
  TESSERA_CUDA_CALL(cudaEventRecord(scaled_, nullptr));
  TESSERA_CUDA_CALL(cudaStreamWaitEvent(stream_, scaled_));
  TESSERA_CUDA_CALL(cudaEventRecord(begun_, stream_));
  S* arrived = slots_.empty() ? x.data() : all_.data();
  for (std::size_t c = 0; c < num_chunks(); ++c) {
    const std::uint64_t begin = plan_.begin_of(c), count = plan_.chunk_ends[c] - begin;
    const std::uint64_t first = begin * static_cast<std::uint64_t>(plan_.num_ranks);
    if (count > 0)
      group_->all_gather(mine_.data() + begin * num_vectors, arrived + first * num_vectors,
                         count * num_vectors * sizeof(S), stream_);
    if (!slots_.empty())
      put_inputs<S>(all_.data(), nullptr, slots_.data(), slots_.size(), num_vectors, x.data(), stream_);
    TESSERA_CUDA_CALL(cudaEventRecord(placed_[c], stream_));
  }
  under_way_ = true;
  note_exchange_begun();
  if (!slots_.empty()) wait_for(num_chunks() - 1);  // else the product waits, chunk by chunk
}

template <class S>
void NcclExchange<S>::wait_for(std::size_t chunk) {
  if (under_way_) TESSERA_CUDA_CALL(cudaStreamWaitEvent(nullptr, placed_[chunk]));
}

template <class S>
void NcclExchange<S>::finish() {
  if (!under_way_) return;
  under_way_ = false;
  // Also when waiting fails: the group has ended the exchange then, or abandoned the device's memory.
  const struct Ended {
    ~Ended() { note_exchange_ended(); }
  } ended;
  group_->wait(begun_, placed_.back());
  float milliseconds = 0;
  TESSERA_CUDA_CALL(cudaEventElapsedTime(&milliseconds, begun_, placed_.back()));
  seconds_ += static_cast<double>(milliseconds) * 1e-3;
}

template <class S>
double NcclExchange<S>::seconds() {
  finish();
  return seconds_;
}

template class NcclExchange<float>;
template class NcclExchange<double>;

}  // namespace tessera::cuda
