// The exchange of inputs between devices that write to each other's memory: whatever makes an input writes it
// for every rank at once, and the exchange is a meeting. Where inputs have slots of x side by side they are
// written there; single numbers whose slots lie apart go to a copy of what all ranks send, in its order, as
// each would need as much of a link as 32 bytes, and from there to their slots.
#pragma once
#include <memory>
#include <vector>

#include "kernels/cuda/device_exchange.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/device_stream.hpp"
#include "kernels/cuda/peer_group.hpp"

namespace tessera::cuda {

template <class S>
class PeerExchange : public DeviceExchange<S> {
 public:
  PeerExchange(std::shared_ptr<PeerGroup> group, ExchangePlan plan);
  InputTarget<S> inputs(unsigned num_vectors) override;
  Buffer<S> start(unsigned num_vectors) override;
  void finish() override;
  double seconds() override;
  const char* kind() const override { return "peers"; }

  std::size_t num_chunks() const override { return 1; }
  std::uint64_t end_tile(std::size_t) const override { return plan_.tile_ends.back(); }
  unsigned busy_multiprocessors() const override { return 0; }
  void wait_for(std::size_t) override {}  // all is on the default stream

 private:
  /// Whether so many vectors' inputs are written to x, not to a copy of what is sent.
  bool fill_links(unsigned num_vectors) const;
  /// Numbers that are written for each rank in a step.
  std::uint64_t target_size(unsigned num_vectors) const;
  void make_room(unsigned num_vectors);
  /// x_ has so many elements or more, all 0.
  void make_x(std::uint64_t size);
  /// Where the exchange that starts next has its inputs, in memory that begins there.
  S* next_target(void* memory) const;

  ExchangeWatch watch_;
  std::shared_ptr<PeerGroup> group_;
  ExchangePlan plan_;
  Buffer<VertexId> slots_;
  Buffer<VertexId> places_in_x_, places_sent_;  // of this rank's inputs
  unsigned num_vectors_ = 0;
  // Two targets, which take turns: the one is written while others still read the other.
  std::shared_ptr<PeerMemory> shared_;
  std::uint64_t num_started_ = 0;
  std::vector<S*> others_;  // the targets of other ranks
  Buffer<S> target_;        // and of this one
  Buffer<S> x_;             // only where targets are no x
  DeviceEvent begun_, done_;
  double seconds_ = 0;
};

}  // namespace tessera::cuda
