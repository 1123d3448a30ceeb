// How the inputs of all ranks reach x on every rank, from device to device. The plan is made by engine/
// (engine/exchange_plan.hpp), the exchange by a backend whose devices are linked.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/base/buffer.hpp"

namespace tessera {

/// Every rank sends `count` values, the first inputs in its local order; who has fewer fills up with values
/// that land in a slot behind x proper. They travel in chunks, so that a product can begin with what is
/// there: chunk c holds the positions [chunk_ends[c - 1], chunk_ends[c]) of every rank, rank after rank.
struct ExchangePlan {
  int rank = 0, num_ranks = 1;
  std::uint64_t count = 0;
  std::uint64_t num_mine = 0;              ///< of this rank's values, how many are inputs
  std::vector<std::uint64_t> chunk_ends;   ///< ascending, the last is `count`
  std::vector<std::uint64_t> ready_slots;  ///< after chunk c every slot below this is in place
  std::vector<VertexId> slots;             ///< count * num_ranks, chunk after chunk

  std::uint64_t begin_of(std::size_t chunk) const { return chunk == 0 ? 0 : chunk_ends[chunk - 1]; }
};

template <class S>
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// x[slot] = local * scale for the inputs of all ranks (scale may be null), k numbers each. Collective. May
  /// return before it is done: products of matrices that were made with this exchange wait for what they
  /// need.
  virtual void start(const Buffer<S>& local, const Buffer<S>* scale, Buffer<S>& x, unsigned num_vectors) = 0;
  /// Of all exchanges so far that are over, from the first value sent to the last in place.
  virtual double seconds() = 0;
};

}  // namespace tessera
