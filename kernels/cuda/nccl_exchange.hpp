// The exchange of inputs between the devices of all ranks by NCCL, which gathers what each rank has put
// together, chunk by chunk, beside the product.
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

  std::size_t num_chunks() const override { return plan_.chunk_ends.size(); }
  std::uint64_t end_tile(std::size_t chunk) const override { return plan_.tile_ends[chunk]; }
  unsigned busy_multiprocessors() const override { return kNcclBlocks; }
  void wait_for(std::size_t chunk) override;

 private:
  void make_room(unsigned num_vectors);
  void gather(unsigned num_vectors);

  ExchangeWatch watch_;
  std::shared_ptr<NcclGroup> group_;
  ExchangePlan plan_;
  Buffer<VertexId> positions_, slots_;
  unsigned num_vectors_ = 0;
  Buffer<S> x_;
  Buffer<S> mine_, all_;  // all_ only where x is filled by slots
  DeviceStream stream_;
  DeviceEvent ready_{cudaEventDisableTiming}, begun_;
  std::vector<DeviceEvent> placed_;  // of each chunk
  std::uint64_t bytes_ = 0;          // of the exchange under way
  double seconds_ = 0;
};

}  // namespace tessera::cuda
