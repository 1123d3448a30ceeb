// A ranking's rows, sorted and formatted by the ranks that hold the labels, merged on rank 0 in order of
// score. Used by score_writer.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "engine/io/ranking_rows.hpp"

namespace tessera {

/// Collective. On rank 0 `write` gets the text of the rows in ranking order, several rows at a time.
void merge_ranking(const Ranking& ranking, const LabelTable& labels, const RankingRows& rows,
                   std::optional<std::uint64_t> top, Communicator& comm,
                   const std::function<void(std::string_view)>& write);

}  // namespace tessera
