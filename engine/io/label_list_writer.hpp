// All labels of a graph, one a line, in id order: beside outputs that have no place for them (NPY, Matrix
// Market).
#pragma once
#include <optional>
#include <string>

#include "engine/io/atomic_file.hpp"
#include "engine/label_table.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// Where the labels of the output `path` are.
inline std::string label_list_path(const std::string& path) { return path + ".labels.txt"; }

/// To `file`, which rank 0 has, and commits together with the output it belongs to. A label with a line
/// break, a tab or a quote is quoted as in TSV. Collective; throws ResourceError.
void write_label_list(const LabelTable& labels, std::optional<AtomicFile>& file, Communicator& comm);

}  // namespace tessera
