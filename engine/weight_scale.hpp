// Weights brought near 1 where results do not depend on their unit, as HITS does not.
#pragma once
#include <optional>

#include "engine/graph.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// `graph` with all weights times a power of two that brings the largest to [1, 2), where it is above 2^60 or
/// below 2^-60: sums of products with scores then stay among the normal numbers of f32, in which tiles
/// send them. Nothing where the weights can stay. Weights below 2^-126 of the largest lose digits in f32
/// then. What comes back reads arrays of `graph`, which must outlive it, and has no labels. Collective.
std::optional<Graph> with_weights_near_one(const Graph& graph, Communicator& comm);

}  // namespace tessera
