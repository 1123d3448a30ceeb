// What a product on a device needs of the exchange that fills its x.
#pragma once
#include "kernels/exchange.hpp"

namespace tessera::cuda {

template <class S>
class DeviceExchange : public Exchange<S> {
 public:
  // Once inputs() has been called:
  /// Parts in which inputs arrive.
  virtual std::size_t num_chunks() const = 0;
  /// Tiles below this are complete after the chunk.
  virtual std::uint64_t end_tile(std::size_t chunk) const = 0;
  /// Multiprocessors that the transport works on beside a product of tiles before the last chunk's.
  virtual unsigned busy_multiprocessors() const = 0;
  /// Later work on the default stream waits for this chunk of the exchange started last.
  virtual void wait_for(std::size_t chunk) = 0;
};

}  // namespace tessera::cuda
