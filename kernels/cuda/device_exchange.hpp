// What a product on a device needs of the exchange that fills its x.
#pragma once
#include "kernels/base/error.hpp"
#include "kernels/exchange.hpp"

namespace tessera::cuda {

/// So many numbers, and what fills the last line of the cache: arrays side by side begin at lines.
inline std::uint64_t whole_lines(std::uint64_t size) {
  constexpr std::uint64_t kLineElements = 64;
  return round_up(size, kLineElements);
}
/// What x of such an exchange is given.
inline std::uint64_t x_elements(const ExchangePlan& plan, unsigned num_vectors) {
  return whole_lines(checked_mul(plan.x_size, num_vectors));
}

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
