// From labels to vertex ids: finds the labels that occur on all ranks, numbers them in label order, and
// rewrites the edges. First half of graph_builder.
#pragma once
#include <cstdint>
#include <optional>

#include "engine/key_set.hpp"
#include "engine/label_table.hpp"
#include "engine/parsed_edges.hpp"
#include "partition/communicator.hpp"

namespace tessera {

struct LabelAssignment {
  std::uint64_t num_vertices = 0;
  LabelTable labels;  ///< of this rank's block of ids
  /// When set, the chunks still hold labels and the id of a label is its rank in this set: the row sorter
  /// looks ids up when edges are in cache anyway. One rank only.
  std::optional<KeySet> keys;
};

/// Afterwards every chunk has `pairs` of ids (or of keys, see above). Collective. InputError when there are
/// more than kMaxVertices labels.
LabelAssignment assign_labels(ParsedEdges& parsed, Communicator& comm);

}  // namespace tessera
