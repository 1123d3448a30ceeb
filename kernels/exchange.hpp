// How the inputs of all ranks reach every rank. The plan is made by engine/ (engine/exchange_plan.hpp); a
// backend whose devices are linked carries it out from device to device.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/buffer.hpp"
#include "kernels/input_places.hpp"

namespace tessera {

/// What goes over a link between devices at once: single numbers to places far apart would each take as long
/// (docs/performance.md).
inline constexpr std::uint64_t kLinkBytes = 32;

/// Every rank sends `count` values; what it has no input for is left over. Where they are gathered they
/// travel in chunks, so that a product can begin with what is there: chunk c holds the positions
/// [chunk_ends[c - 1], chunk_ends[c]) of every rank, rank after rank. Either they arrive where products read
/// them (`slots` is empty: what arrives is x), or each arrived value is moved to a slot of x.
struct ExchangePlan {
  int rank = 0, num_ranks = 1;
  std::uint64_t count = 0;
  std::uint64_t x_size = 0;               ///< numbers of x, of one vector; whoever makes x says so
  std::uint64_t num_mine = 0;             ///< inputs of this rank that are sent, the first in local order
  std::vector<std::uint64_t> chunk_ends;  ///< ascending, the last is `count`
  std::vector<std::uint64_t>
      tile_ends;                    ///< tiles below this are complete after chunk c; where slots is empty
  std::vector<VertexId> positions;  ///< where each input goes in what is sent; empty: in order
  std::vector<VertexId> slots;      ///< count * num_ranks, as they arrive; the leftovers behind x proper

  std::uint64_t begin_of(std::size_t chunk) const { return chunk == 0 ? 0 : chunk_ends[chunk - 1]; }
  std::uint64_t num_received() const { return count * static_cast<std::uint64_t>(num_ranks); }
  // Of this rank's input i, on every rank; while positions and slots are there:
  std::uint64_t position(std::uint64_t i) const { return positions.empty() ? i : positions[i]; }
  /// Among what all ranks send, rank after rank.
  std::uint64_t place_sent(std::uint64_t i) const {
    return static_cast<std::uint64_t>(rank) * count + position(i);
  }
  /// In x.
  std::uint64_t place_in_x(std::uint64_t i) const {
    if (!slots.empty()) return slots[place_sent(i)];
    const std::uint64_t sent = position(i), ranks = static_cast<std::uint64_t>(num_ranks);
    std::size_t chunk = 0;
    while (sent >= chunk_ends[chunk]) ++chunk;
    const std::uint64_t begin = begin_of(chunk);
    return begin * ranks + static_cast<std::uint64_t>(rank) * (chunk_ends[chunk] - begin) + (sent - begin);
  }
};

/// Where the inputs of a product are to be left: at these places of `out` (k numbers each), and of `others`,
/// memory of other ranks that this one's device reaches. Of an exchange it holds until start().
template <class S>
struct InputTarget {
  Buffer<S>* out = nullptr;
  InputPlaces places = {};
  std::span<S* const> others = {};
};

template <class S>
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// Where this rank's inputs go before start(), which must follow before inputs() of another number of
  /// vectors. Collective.
  virtual InputTarget<S> inputs(unsigned num_vectors) = 0;
  /// Brings the inputs of all ranks into x, which lies in memory of the exchange's own and stays as it is
  /// until the next start(), or inputs() of another number of vectors. Collective. May return before it is
  /// done: products of matrices that were made with this exchange wait for each part when they need it; other
  /// work must come after finish().
  virtual Buffer<S> start(unsigned num_vectors) = 0;
  /// The host waits for the exchange started last. Throws ResourceError when a rank does not answer; until
  /// it has returned, the host must not wait for anything that comes after the exchange.
  virtual void finish() = 0;
  /// Of all exchanges so far that are over, from the first value gathered to the last in place; where devices
  /// write to each other's memory, from the meeting on.
  virtual double seconds() = 0;
  /// How values travel: "peers" where devices write to each other's memory, else "device".
  virtual const char* kind() const { return "device"; }
};

}  // namespace tessera
