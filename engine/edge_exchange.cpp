// See edge_exchange.hpp. In rounds: deal a few pieces by owner, exchange, keep what came from each rank
// apart so that the order of ranks survives the rounds.
#include "engine/edge_exchange.hpp"

#include <memory>
#include <numeric>

#include "partition/run_together.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t kPiecesPerRound = 16;

/// block_boundaries gives rank r the vertices from n * r / ranks.
class BlockOwner {
 public:
  BlockOwner(std::uint64_t num_vertices, int num_ranks)
      : boundaries_(block_boundaries(num_vertices, num_ranks)), ranks_(num_ranks), vertices_(num_vertices) {}
  std::uint64_t operator()(VertexId v) const {
    std::uint64_t owner = v * ranks_ / vertices_;  // v < 2^32 and few ranks: no overflow
    while (v >= boundaries_[owner + 1]) ++owner;
    return owner;
  }

 private:
  std::vector<std::uint64_t> boundaries_;
  std::uint64_t ranks_, vertices_;
};

/// The directed edges of some pieces, owner after owner.
struct Parcel {
  std::vector<std::uint64_t> pairs;  // source in the low half, target in the high half
  std::vector<double> weights;
  std::vector<std::uint64_t> offsets;
};

template <bool kWeighted, class Source>
std::uint64_t fill_parcel(Source& source, std::uint64_t first, std::uint64_t last, const EdgeRules& rules,
                          const BlockOwner& owner_of, Parcel& parcel, int num_ranks) {
  std::vector<std::uint64_t> next(static_cast<std::size_t>(num_ranks) + 1, 0);
  std::uint64_t loops = 0;
  for (std::uint64_t p = first; p < last; ++p)
    loops += for_each_directed<false>(
        source, p, rules, [&](std::uint32_t, std::uint32_t v, double) { ++next[owner_of(v) + 1]; });
  std::inclusive_scan(next.begin(), next.end(), next.begin());
  parcel.offsets = next;
  parcel.pairs.resize(next.back());
  if (kWeighted) parcel.weights.resize(next.back());
  for (std::uint64_t p = first; p < last; ++p) {
    for_each_directed<kWeighted>(source, p, rules, [&](std::uint32_t u, std::uint32_t v, double w) {
      const std::uint64_t position = next[owner_of(v)]++;
      parcel.pairs[position] = std::uint64_t{v} << 32 | u;
      if constexpr (kWeighted) parcel.weights[position] = w;
    });
    source.release(p);
  }
  return loops;
}

/// Appends what came from each rank to that rank's chunks.
void keep_received(Buffer<std::uint64_t> pairs, Buffer<double> weights,
                   std::span<const std::uint64_t> offsets,
                   std::vector<std::vector<EdgeChunk>>& chunks_of_rank) {
  const bool weighted = !weights.empty();
  const auto shared_pairs = std::make_shared<Buffer<std::uint64_t>>(std::move(pairs));
  const auto shared_weights = std::make_shared<Buffer<double>>(std::move(weights));
  for (std::size_t r = 0; r < chunks_of_rank.size(); ++r) {
    const std::uint64_t count = offsets[r + 1] - offsets[r];
    if (count == 0) continue;
    EdgeChunk chunk;
    auto* data = reinterpret_cast<std::uint32_t*>(shared_pairs->data() + offsets[r]);
    chunk.pairs = Buffer<std::uint32_t>(shared_pairs, data, 2 * count);
    if (weighted) chunk.weights = Buffer<double>(shared_weights, shared_weights->data() + offsets[r], count);
    chunks_of_rank[r].push_back(std::move(chunk));
  }
}

template <bool kWeighted, class Source>
std::vector<EdgeChunk> exchange(Source& source, const EdgeRules& rules, std::uint64_t num_vertices,
                                std::uint64_t& self_loops, Communicator& comm) {
  const BlockOwner owner_of(num_vertices, comm.size());
  const std::uint64_t num_rounds = all_max(comm, ceil_div(source.num_pieces(), kPiecesPerRound));
  std::vector<std::vector<EdgeChunk>> chunks_of_rank(comm.size());
  self_loops = 0;
  for (std::uint64_t round = 0; round < num_rounds; ++round) {
    const std::uint64_t first = std::min(round * kPiecesPerRound, source.num_pieces());
    const std::uint64_t last = std::min(first + kPiecesPerRound, source.num_pieces());
    Parcel parcel;
    run_together(comm, [&] {
      self_loops += fill_parcel<kWeighted>(source, first, last, rules, owner_of, parcel, comm.size());
    });
    std::vector<std::uint64_t> offsets;
    auto pairs = all_to_all(comm, std::span<const std::uint64_t>(parcel.pairs), parcel.offsets, offsets);
    Buffer<double> weights;
    if (kWeighted)
      weights = all_to_all(comm, std::span<const double>(parcel.weights), parcel.offsets, offsets);
    keep_received(std::move(pairs), std::move(weights), offsets, chunks_of_rank);
  }
  source.clear();
  std::vector<EdgeChunk> chunks;
  for (auto& of_rank : chunks_of_rank)
    for (EdgeChunk& chunk : of_rank) chunks.push_back(std::move(chunk));
  return chunks;
}

}  // namespace

template <class Source>
std::vector<EdgeChunk> exchange_edges(Source& source, const EdgeRules& rules, bool weighted,
                                      std::uint64_t num_vertices, std::uint64_t& self_loops,
                                      Communicator& comm) {
  return weighted ? exchange<true>(source, rules, num_vertices, self_loops, comm)
                  : exchange<false>(source, rules, num_vertices, self_loops, comm);
}

template std::vector<EdgeChunk> exchange_edges(PairSource&, const EdgeRules&, bool, std::uint64_t,
                                               std::uint64_t&, Communicator&);
template std::vector<EdgeChunk> exchange_edges(GraphSource&, const EdgeRules&, bool, std::uint64_t,
                                               std::uint64_t&, Communicator&);

}  // namespace tessera
