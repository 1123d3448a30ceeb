#include "kernels/cuda/peer_exchange.hpp"

#include "kernels/base/error.hpp"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_vector_ops.hpp"
#include "kernels/profile_range.hpp"

namespace tessera::cuda {
namespace {

/// place_of(i) of each of this rank's inputs.
template <class PlaceOf>
Buffer<VertexId> places_of_inputs(const ExchangePlan& plan, const PlaceOf& place_of) {
  Buffer<VertexId> places(plan.num_mine);
  const auto count = static_cast<std::int64_t>(plan.num_mine);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i)
    places[i] = static_cast<VertexId>(place_of(static_cast<std::uint64_t>(i)));
  return on_device(places);
}

}  // namespace

template <class S>
PeerExchange<S>::PeerExchange(std::shared_ptr<PeerGroup> group, ExchangePlan plan)
    : group_(std::move(group)), plan_(std::move(plan)) {
  places_in_x_ = places_of_inputs(plan_, [&](std::uint64_t i) { return plan_.place_in_x(i); });
  if (!plan_.slots.empty()) {
    slots_ = on_device(std::span<const VertexId>(plan_.slots));
    places_sent_ = places_of_inputs(plan_, [&](std::uint64_t i) { return plan_.place_sent(i); });
  }
  std::vector<VertexId>().swap(plan_.positions);
  std::vector<VertexId>().swap(plan_.slots);
}

template <class S>
bool PeerExchange<S>::fill_links(unsigned num_vectors) const {
  return slots_.empty() || num_vectors * sizeof(S) >= kLinkBytes;  // without slots they lie in order
}

template <class S>
std::uint64_t PeerExchange<S>::target_size(unsigned num_vectors) const {
  return fill_links(num_vectors) ? x_elements(plan_, num_vectors)
                                 : whole_lines(checked_mul(plan_.num_received(), num_vectors));
}

template <class S>
S* PeerExchange<S>::next_target(void* memory) const {
  return static_cast<S*>(memory) + num_started_ % 2 * target_size(num_vectors_);
}

template <class S>
void PeerExchange<S>::make_x(std::uint64_t size) {
  bool has_room = true;
  if (x_.size() < size) {
    x_ = {};
    try {
      x_ = device_buffer<S>(size);
    } catch (const NoRoomError&) {
      has_room = false;
    }
  }
  group_->require_room(has_room, size * sizeof(S));
  TESSERA_CUDA_CALL(cudaMemsetAsync(x_.data(), 0, x_.size_bytes()));
}

template <class S>
void PeerExchange<S>::make_room(unsigned num_vectors) {
  if (num_vectors == num_vectors_) return;
  num_vectors_ = 0;  // until there is room
  if (!fill_links(num_vectors)) make_x(x_elements(plan_, num_vectors));
  const std::uint64_t num_bytes = checked_mul(2 * target_size(num_vectors), sizeof(S));
  if (shared_ == nullptr || shared_->num_bytes() < num_bytes) {
    shared_ = nullptr;
    shared_ = group_->share_memory(num_bytes);
  }
  TESSERA_CUDA_CALL(cudaMemsetAsync(shared_->own().get(), 0, shared_->num_bytes()));
  group_->meet_and_wait();  // before others write there
  num_vectors_ = num_vectors;
}

template <class S>
InputTarget<S> PeerExchange<S>::inputs(unsigned num_vectors) {
  finish();  // it reads what is written now
  make_room(num_vectors);
  target_ = Buffer<S>(nullptr, next_target(shared_->own().get()), target_size(num_vectors));
  others_.clear();
  for (void* memory : shared_->others()) others_.push_back(next_target(memory));
  const Buffer<VertexId>& places = fill_links(num_vectors) ? places_in_x_ : places_sent_;
  return {&target_, {.count = plan_.num_mine, .listed = places.data()}, others_};
}

template <class S>
Buffer<S> PeerExchange<S>::start(unsigned num_vectors) {
  const ProfileRange range("exchange");
  require(num_vectors == num_vectors_, "inputs of so many vectors are there");
  finish();
  begun_.record(nullptr);
  watch_.begin();
  S* x = next_target(shared_->own().get());
  ++num_started_;
  group_->meet();
  if (!fill_links(num_vectors)) {
    put_inputs<S>(x, nullptr, InputPlaces::listed_in(slots_), num_vectors, x_.data(), {});
    x = x_.data();
  }
  done_.record(nullptr);
  return Buffer<S>(nullptr, x, plan_.x_size * num_vectors);
}

template <class S>
void PeerExchange<S>::finish() {
  if (!watch_.is_under_way()) return;
  // Also when waiting fails: nothing on the device waits for others any more.
  const struct End {
    ExchangeWatch& watch;
    ~End() { watch.end(); }
  } end{watch_};
  group_->wait(begun_.get(), done_.get());
  seconds_ += done_.seconds_since(begun_);
}

template <class S>
double PeerExchange<S>::seconds() {
  finish();
  return seconds_;
}

template class PeerExchange<float>;
template class PeerExchange<double>;

}  // namespace tessera::cuda
