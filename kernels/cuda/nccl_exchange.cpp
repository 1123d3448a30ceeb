#include "kernels/cuda/nccl_exchange.hpp"

#include "kernels/base/error.hpp"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_vector_ops.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/profile_range.hpp"

namespace tessera::cuda {

template <class S>
NcclExchange<S>::NcclExchange(std::shared_ptr<NcclGroup> group, ExchangePlan plan)
    : group_(std::move(group)), plan_(std::move(plan)), placed_(plan_.chunk_ends.size()) {
  positions_ = on_device(std::span<const VertexId>(plan_.positions));
  slots_ = on_device(std::span<const VertexId>(plan_.slots));
  std::vector<VertexId>().swap(plan_.positions);
  std::vector<VertexId>().swap(plan_.slots);
}

template <class S>
void NcclExchange<S>::make_room(unsigned num_vectors) {
  if (num_vectors == num_vectors_) return;
  num_vectors_ = 0;  // until there is room
  if (const std::uint64_t size = x_elements(plan_, num_vectors); x_.size() < size) {
    x_ = {};
    x_ = device_buffer<S>(size);
  }
  if (mine_.size() < plan_.count * num_vectors) {
    mine_ = {};
    all_ = {};
    mine_ = device_buffer<S>(plan_.count * num_vectors);
    if (!slots_.empty()) all_ = device_buffer<S>(plan_.num_received() * num_vectors);
    TESSERA_CUDA_CALL(cudaMemset(mine_.data(), 0, mine_.size_bytes()));
  }
  TESSERA_CUDA_CALL(cudaMemsetAsync(x_.data(), 0, x_.size_bytes()));
  num_vectors_ = num_vectors;
}

template <class S>
InputTarget<S> NcclExchange<S>::inputs(unsigned num_vectors) {
  finish();  // it reads what is written now
  make_room(num_vectors);
  return {&mine_, {.count = plan_.num_mine, .listed = positions_.empty() ? nullptr : positions_.data()}};
}

template <class S>
Buffer<S> NcclExchange<S>::start(unsigned num_vectors) {
  const ProfileRange range("exchange");
  require(num_vectors == num_vectors_, "inputs of so many vectors are there");
  finish();
  // From here on the default stream neither reads the last x nor writes this one.
  ready_.record(nullptr);
  TESSERA_CUDA_CALL(cudaStreamWaitEvent(stream_.get(), ready_.get()));
  begun_.record(stream_.get());
  watch_.begin();
  gather(num_vectors);
  return Buffer<S>(nullptr, x_.data(), plan_.x_size * num_vectors);
}

template <class S>
void NcclExchange<S>::gather(unsigned num_vectors) {
  bytes_ = plan_.num_received() * num_vectors * sizeof(S);
  S* arrived = slots_.empty() ? x_.data() : all_.data();
  for (std::size_t c = 0; c < plan_.chunk_ends.size(); ++c) {
    const std::uint64_t begin = plan_.begin_of(c), count = plan_.chunk_ends[c] - begin;
    const std::uint64_t first = begin * static_cast<std::uint64_t>(plan_.num_ranks);
    if (count > 0)
      group_->all_gather(mine_.data() + begin * num_vectors, arrived + first * num_vectors,
                         count * num_vectors * sizeof(S), stream_.get());
    if (!slots_.empty())
      put_inputs<S>(all_.data(), nullptr, InputPlaces::listed_in(slots_), num_vectors, x_.data(), {},
                    stream_.get());
    placed_[c].record(stream_.get());
  }
  if (!slots_.empty()) wait_for(plan_.chunk_ends.size() - 1);  // else the product waits, chunk by chunk
}

template <class S>
void NcclExchange<S>::wait_for(std::size_t chunk) {
  if (watch_.is_under_way()) TESSERA_CUDA_CALL(cudaStreamWaitEvent(nullptr, placed_[chunk].get()));
}

template <class S>
void NcclExchange<S>::finish() {
  if (!watch_.is_under_way()) return;
  // Also when waiting fails: the group has ended the exchange then, or abandoned the device's memory.
  const struct End {
    ExchangeWatch& watch;
    ~End() { watch.end(); }
  } end{watch_};
  group_->wait(begun_.get(), placed_.back().get(), bytes_);
  seconds_ += placed_.back().seconds_since(begun_);
}

template <class S>
double NcclExchange<S>::seconds() {
  finish();
  return seconds_;
}

template class NcclExchange<float>;
template class NcclExchange<double>;

}  // namespace tessera::cuda
