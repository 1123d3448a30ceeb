#include "engine/exchange_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// The inputs of a rank that are sent, in local order.
std::span<const VertexId> sent_by(const VertexDistribution& inputs, int rank) {
  return inputs.of_rank(rank).first(inputs.with_slot[static_cast<std::size_t>(rank)]);
}

ExchangePlan empty_plan(const VertexDistribution& inputs, int rank) {
  ExchangePlan plan;
  plan.rank = rank;
  plan.num_ranks = static_cast<int>(inputs.with_slot.size());
  plan.num_mine = inputs.with_slot[static_cast<std::size_t>(rank)];
  return plan;
}

class TilePlanner {
 public:
  TilePlanner(const VertexDistribution& inputs, const ColumnOrder& columns, int rank)
      : inputs_(inputs),
        old_(columns),
        num_ranks_(inputs.with_slot.size()),
        sizes_(columns.tiles.size() * num_ranks_, 0),
        inputs_of_(sizes_.size()) {
    result_.plan = empty_plan(inputs, rank);
    for (const Tile& tile : columns.tiles) require(!tile.wide, "tile-messages has no wide tile");
    find_inputs();
  }

  TileExchange run(std::span<const double> chunk_shares) {
    place_parts(chunk_shares);
    number_columns();
    return std::move(result_);
  }

 private:
  std::size_t num_tiles() const { return old_.tiles.size(); }

  /// In local order a rank's inputs are ascending by slot, so those of a tile lie together.
  void find_inputs() {
    for (std::size_t r = 0; r < num_ranks_; ++r) {
      std::span<const VertexId> rest = sent_by(inputs_, static_cast<int>(r));
      for (std::size_t tile = 0; tile < num_tiles(); ++tile) {
        const std::uint64_t end = old_.tiles[tile].first_slot + old_.tiles[tile].num_columns;
        const auto past = std::partition_point(rest.begin(), rest.end(),
                                               [&](VertexId v) { return old_.slot_of_column[v] < end; });
        const auto count = static_cast<std::size_t>(past - rest.begin());
        inputs_of_[tile * num_ranks_ + r] = rest.first(count);
        sizes_[tile * num_ranks_ + r] = count;
        rest = rest.subspan(count);
      }
    }
  }

  void place_parts(std::span<const double> chunk_shares) {
    ExchangePlan& plan = result_.plan;
    result_.parts.resize(sizes_.size());
    positions_.resize(sizes_.size());
    std::size_t first = 0;
    for (const double share : chunk_shares) {
      const auto end = static_cast<std::size_t>(std::ceil(share * static_cast<double>(num_tiles())));
      std::vector<std::uint64_t> next(num_ranks_, 0);
      for (std::size_t at = first * num_ranks_; at < end * num_ranks_; ++at) {
        positions_[at] = plan.count + next[at % num_ranks_];
        next[at % num_ranks_] += round_up<std::uint64_t>(sizes_[at], kPartAlignment);
      }
      const std::uint64_t length = next.empty() ? 0 : *std::max_element(next.begin(), next.end());
      for (std::size_t at = first * num_ranks_; at < end * num_ranks_; ++at)
        result_.parts[at] = {plan.count * num_ranks_ + at % num_ranks_ * length + positions_[at] - plan.count,
                             static_cast<std::uint32_t>(sizes_[at])};
      plan.count += length;
      plan.chunk_ends.push_back(plan.count);
      plan.tile_ends.push_back(end);
      first = end;
    }
  }

  void number_columns() {
    ColumnOrder& columns = result_.columns;
    columns.kind = old_.kind;
    columns.tiles = old_.tiles;
    std::vector<std::uint64_t> first_of_part(sizes_.size());
    std::uint64_t widest = 0;
    for (std::size_t t = 0; t < num_tiles(); ++t) {
      std::uint64_t next = 0;
      for (std::size_t at = t * num_ranks_; at < (t + 1) * num_ranks_; ++at) {
        first_of_part[at] = next;
        next += round_up<std::uint64_t>(sizes_[at], kPartAlignment);
      }
      columns.tiles[t].num_columns = next;
      widest = std::max(widest, next + 1);
    }
    if (widest > 65536)
      throw ResourceError(fmt::format(
          "tiles of tile-messages have no room for the columns of {} processes; use fewer, or --kernel csr",
          num_ranks_));
    // Tiles at multiples of a power of two are found fast.
    constexpr std::uint64_t kStride = 4096;
    const std::uint64_t stride = round_up(widest, kStride);
    columns.num_slots = stride * num_tiles();
    if (columns.num_slots > kMaxVertices)
      throw ResourceError("the graph has too many vertices for 32-bit slots");
    for (std::size_t t = 0; t < num_tiles(); ++t) columns.tiles[t].first_slot = t * stride;
    columns.slot_of_column = Buffer<VertexId>(old_.slot_of_column.size());
    const auto num_columns = static_cast<std::int64_t>(columns.slot_of_column.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t c = 0; c < num_columns; ++c) columns.slot_of_column[c] = kNoVertex;
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t at = 0; at < inputs_of_.size(); ++at)
      for (std::uint64_t i = 0; i < inputs_of_[at].size(); ++i)
        columns.slot_of_column[inputs_of_[at][i]] =
            static_cast<VertexId>(at / num_ranks_ * stride + first_of_part[at] + i);
    place_own_inputs();
  }

  void place_own_inputs() {
    std::vector<VertexId>& positions = result_.plan.positions;
    positions.reserve(result_.plan.num_mine);
    for (std::size_t at = static_cast<std::size_t>(result_.plan.rank); at < sizes_.size(); at += num_ranks_)
      for (std::uint64_t i = 0; i < sizes_[at]; ++i)
        positions.push_back(static_cast<VertexId>(positions_[at] + i));
  }

  const VertexDistribution& inputs_;
  const ColumnOrder& old_;
  const std::size_t num_ranks_;
  std::vector<std::uint64_t> sizes_, positions_;      // of each tile and rank
  std::vector<std::span<const VertexId>> inputs_of_;  // the same, in local order
  TileExchange result_;
};

}  // namespace

ExchangePlan plan_exchange(const VertexDistribution& inputs, const ColumnOrder& columns, int rank) {
  ExchangePlan plan = empty_plan(inputs, rank);
  plan.count = *std::max_element(inputs.with_slot.begin(), inputs.with_slot.end());
  plan.chunk_ends = {plan.count};
  plan.slots.resize(plan.num_received(), static_cast<VertexId>(columns.num_slots));
  for (int r = 0; r < plan.num_ranks; ++r) {
    const auto sent = sent_by(inputs, r);
    VertexId* const slots = plan.slots.data() + plan.count * static_cast<std::uint64_t>(r);
    const auto num_sent = static_cast<std::int64_t>(sent.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < num_sent; ++i)
      slots[i] = columns.slot_of_column[sent[static_cast<std::size_t>(i)]];
  }
  return plan;
}

TileExchange plan_tile_exchange(const VertexDistribution& inputs, const ColumnOrder& columns, int rank,
                                std::span<const double> chunk_shares) {
  require(!chunk_shares.empty() && chunk_shares.back() == 1, "the last chunk ends with the last tile");
  return TilePlanner(inputs, columns, rank).run(chunk_shares);
}

}  // namespace tessera
