// All labels of a graph, one a line, in id order: beside outputs that have no place for them (NPY, Matrix
// Market).
#pragma once
#include <string>

#include "engine/label_table.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// A label with a line break, a tab or a quote is quoted as in TSV. Collective; atomic; throws ResourceError.
void write_label_list(const LabelTable& labels, const std::string& path, Communicator& comm);

}  // namespace tessera
