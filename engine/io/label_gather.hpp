// The labels of all vertices on every rank, for writers that name both ends of an edge.
#pragma once
#include "engine/label_table.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// Collective; a copy of everybody's labels, in id order.
LabelTable gather_labels(const LabelTable& mine, Communicator& comm);

}  // namespace tessera
