#include "kernels/cuda/nccl_exchange.hpp"

#include "kernels/base/error.hpp"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_vector_ops.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/profile_range.hpp"

namespace tessera::cuda {
namespace {

/// What goes over a link at once: single numbers to places far apart would each take as long
/// (docs/performance.md).
constexpr std::uint64_t kLinkBytes = 32;
/// So that the second x begins at a line of the cache, as the first does.
constexpr std::uint64_t kXAlignment = 64;

Buffer<VertexId> places_in_x(const ExchangePlan& plan) {
  Buffer<VertexId> places(plan.num_mine);
  const auto count = static_cast<std::int64_t>(plan.num_mine);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i)
    places[i] = static_cast<VertexId>(plan.place_in_x(static_cast<std::uint64_t>(i)));
  return on_device(places);
}

}  // namespace

template <class S>
NcclExchange<S>::NcclExchange(std::shared_ptr<NcclGroup> group, ExchangePlan plan)
    : group_(std::move(group)), plan_(std::move(plan)), placed_(plan_.chunk_ends.size()) {
  positions_ = on_device(std::span<const VertexId>(plan_.positions));
  slots_ = on_device(std::span<const VertexId>(plan_.slots));
  places_ = places_in_x(plan_);
  std::vector<VertexId>().swap(plan_.positions);
  std::vector<VertexId>().swap(plan_.slots);
}

template <class S>
bool NcclExchange<S>::fill_links(unsigned num_vectors) const {
  return slots_.empty() || num_vectors * sizeof(S) >= kLinkBytes;  // without slots they lie in order
}

template <class S>
bool NcclExchange<S>::is_written_directly(unsigned num_vectors) const {
  return shared_ != nullptr && fill_links(num_vectors);
}

template <class S>
S* NcclExchange<S>::next_x(void* memory) const {
  const std::uint64_t size = round_up(plan_.x_size * num_vectors_, kXAlignment);
  return static_cast<S*>(memory) + num_started_ % 2 * size;
}

template <class S>
void NcclExchange<S>::make_room(unsigned num_vectors) {
  if (num_vectors == num_vectors_) return;
  num_vectors_ = 0;  // until there is room
  const std::uint64_t x_size = round_up(checked_mul(plan_.x_size, num_vectors), kXAlignment);
  if (fill_links(num_vectors)) {
    const std::uint64_t num_bytes = checked_mul(2 * x_size, sizeof(S));
    if (shared_ == nullptr || shared_->num_bytes() < num_bytes) {
      shared_ = nullptr;
      shared_ = group_->share_memory(num_bytes);
    }
  }
  if (shared_ == nullptr && x_.size() < x_size) {
    x_ = {};
    x_ = device_buffer<S>(x_size);
  }
  if (!is_written_directly(num_vectors) && mine_.size() < plan_.count * num_vectors) {
    mine_ = {};
    all_ = {};
    mine_ = device_buffer<S>(plan_.count * num_vectors);
    if (!slots_.empty()) all_ = device_buffer<S>(plan_.num_received() * num_vectors);
    TESSERA_CUDA_CALL(cudaMemset(mine_.data(), 0, mine_.size_bytes()));
  }
  clear_x();
  num_vectors_ = num_vectors;
}

template <class S>
void NcclExchange<S>::clear_x() {
  if (shared_ == nullptr) {
    TESSERA_CUDA_CALL(cudaMemsetAsync(x_.data(), 0, x_.size_bytes()));
    return;
  }
  TESSERA_CUDA_CALL(cudaMemsetAsync(shared_->own().get(), 0, shared_->num_bytes()));
  group_->meet_and_wait();  // before others write there
}

template <class S>
InputTarget<S> NcclExchange<S>::inputs(unsigned num_vectors) {
  finish();  // it reads what is written now
  make_room(num_vectors);
  if (!is_written_directly(num_vectors))
    return {&mine_, {.count = plan_.num_mine, .listed = positions_.empty() ? nullptr : positions_.data()}};
  target_ = Buffer<S>(nullptr, next_x(shared_->own().get()), plan_.x_size * num_vectors);
  others_.clear();
  for (void* memory : shared_->others()) others_.push_back(next_x(memory));
  return {&target_, {.count = plan_.num_mine, .listed = places_.data()}, others_};
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
  S* const x = shared_ != nullptr ? next_x(shared_->own().get()) : x_.data();
  ++num_started_;
  if (is_written_directly(num_vectors)) {
    bytes_ = 0;
    group_->meet(stream_.get());
    for (DeviceEvent& event : placed_) event.record(stream_.get());
    wait_for(0);  // products of other forms than tile-messages do not wait themselves
  } else {
    gather(x, num_vectors);
  }
  return Buffer<S>(nullptr, x, plan_.x_size * num_vectors);
}

template <class S>
void NcclExchange<S>::gather(S* x, unsigned num_vectors) {
  bytes_ = plan_.num_received() * num_vectors * sizeof(S);
  S* arrived = slots_.empty() ? x : all_.data();
  for (std::size_t c = 0; c < plan_.chunk_ends.size(); ++c) {
    const std::uint64_t begin = plan_.begin_of(c), count = plan_.chunk_ends[c] - begin;
    const std::uint64_t first = begin * static_cast<std::uint64_t>(plan_.num_ranks);
    if (count > 0)
      group_->all_gather(mine_.data() + begin * num_vectors, arrived + first * num_vectors,
                         count * num_vectors * sizeof(S), stream_.get());
    if (!slots_.empty())
      put_inputs<S>(all_.data(), nullptr, InputPlaces::listed_in(slots_), num_vectors, x, {}, stream_.get());
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
