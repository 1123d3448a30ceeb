// What the options for reading mean for a cache, whose edges have been through the builder already.
#pragma once
#include "engine/graph.hpp"
#include "engine/graph_options.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// Throws OptionError, naming the remedy, where `options` ask for what the cache no longer knows: weights,
/// another rule for duplicates, one direction of an undirected graph, another kind of labels. `weighted`,
/// `labels` and `facts` are those of the file. --delimiter, --columns and --header mean nothing here.
void check_cache_options(const GraphOptions& options, bool weighted, LabelKind labels,
                         const GraphFacts& facts);

/// Drops weights and self-loops, turns edges round, adds reverse edges, as `options` ask. Collective.
Graph apply_cache_options(Graph graph, const GraphOptions& options, Communicator& comm);

}  // namespace tessera
