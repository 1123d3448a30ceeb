#include "engine/exchange_plan.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Slot of each input of a rank, in local order; `padding` behind the last.
class SlotsOfRank {
 public:
  SlotsOfRank(const VertexDistribution& inputs, const ColumnOrder& columns, int rank)
      : columns_(columns),
        vertices_(inputs.of_rank(rank).first(inputs.with_slot[static_cast<std::size_t>(rank)])) {}
  VertexId operator[](std::uint64_t position) const {
    return position < vertices_.size() ? columns_.slot_of_column[vertices_[position]]
                                       : static_cast<VertexId>(columns_.num_slots);
  }

 private:
  const ColumnOrder& columns_;
  std::span<const VertexId> vertices_;
};

}  // namespace

ExchangePlan plan_exchange(const VertexDistribution& inputs, const ColumnOrder& columns, int rank,
                           std::span<const double> chunk_shares) {
  require(!chunk_shares.empty() && chunk_shares.back() == 1, "the last chunk ends with the last value");
  ExchangePlan plan;
  plan.rank = rank;
  plan.num_ranks = static_cast<int>(inputs.with_slot.size());
  plan.num_mine = inputs.with_slot[static_cast<std::size_t>(rank)];
  plan.count = *std::max_element(inputs.with_slot.begin(), inputs.with_slot.end());
  std::vector<SlotsOfRank> slots;
  for (int r = 0; r < plan.num_ranks; ++r) slots.emplace_back(inputs, columns, r);
  plan.slots.reserve(plan.count * static_cast<std::uint64_t>(plan.num_ranks));
  for (const double share : chunk_shares) {
    const std::uint64_t begin = plan.chunk_ends.empty() ? 0 : plan.chunk_ends.back();
    const auto end = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(plan.count)));
    std::uint64_t ready = columns.num_slots;
    for (const SlotsOfRank& of_rank : slots) {
      for (std::uint64_t i = begin; i < end; ++i) plan.slots.push_back(of_rank[i]);
      ready = std::min<std::uint64_t>(ready, of_rank[end]);
    }
    plan.chunk_ends.push_back(end);
    plan.ready_slots.push_back(ready);
  }
  return plan;
}

}  // namespace tessera
