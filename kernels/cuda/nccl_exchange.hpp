// The exchange of inputs between the devices of all ranks. Where these reach each other's memory, as the GPUs
// of one machine do, whatever makes an input writes it to the x of every rank at once, and the exchange is a
// meeting; else NCCL gathers what each rank has put together, chunk by chunk, beside the product.
#pragma once
#include <memory>
#include <vector>

#include "kernels/cuda/device_exchange.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/device_stream.hpp"
#include "kernels/cuda/nccl_group.hpp"

namespace tessera::cuda {

template <class S>
class NcclExchange : public DeviceExchange<S> {
 public:
  NcclExchange(std::shared_ptr<NcclGroup> group, ExchangePlan plan);
  InputTarget<S> inputs(unsigned num_vectors) override;
  Buffer<S> start(unsigned num_vectors) override;
  void finish() override;
  double seconds() override;
  const char* kind() const override { return is_written_directly(num_vectors_) ? "peers" : "device"; }

  std::size_t num_chunks() const override { return shared_ != nullptr ? 1 : plan_.chunk_ends.size(); }
  std::uint64_t end_tile(std::size_t chunk) const override {
    return shared_ != nullptr ? plan_.tile_ends.back() : plan_.tile_ends[chunk];
  }
  unsigned busy_multiprocessors() const override { return kNcclBlocks; }
  void wait_for(std::size_t chunk) override;

 private:
  /// Whether inputs of so many vectors may go to others one by one.
  bool fill_links(unsigned num_vectors) const;
  bool is_written_directly(unsigned num_vectors) const;
  void make_room(unsigned num_vectors);
  void clear_x();
  void gather(S* x, unsigned num_vectors);
  /// x of the exchange that starts next, in memory that begins there.
  S* next_x(void* memory) const;

  ExchangeWatch watch_;
  std::shared_ptr<NcclGroup> group_;
  ExchangePlan plan_;
  Buffer<VertexId> positions_, slots_, places_;
  unsigned num_vectors_ = 0;
  // Two of them, which take turns: the one is written while others still read the other.
  std::shared_ptr<PeerMemory> shared_;
  std::uint64_t num_started_ = 0;
  std::vector<S*> others_;  // the x to be written of other ranks
  Buffer<S> target_;        // and of this one
  // Where ranks do not reach each other.
  Buffer<S> x_;
  Buffer<S> mine_, all_;  // all_ only where x is filled by slots
  DeviceStream stream_;
  DeviceEvent ready_{cudaEventDisableTiming}, begun_;
  std::vector<DeviceEvent> placed_;  // of each chunk
  std::uint64_t bytes_ = 0;          // of the exchange under way
  double seconds_ = 0;
};

}  // namespace tessera::cuda
