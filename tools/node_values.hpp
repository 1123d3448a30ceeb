// Numbers for nodes from a file (label, value), as a vector over all nodes.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph.hpp"
#include "partition/communicator.hpp"

namespace tessera::cli {

enum class UnknownLabels { error, ignore };

struct NodeValues {
  std::vector<double> values;  ///< original order; 0 where the file says nothing
  std::vector<bool> is_given;
  std::uint64_t num_given = 0;
  std::uint64_t num_unknown = 0;  ///< labels of the file that are no nodes (UnknownLabels::ignore)
  double sum() const;
};

/// `column`: the header's name of the values; value_if_none: of a label alone (read_label_values).
/// Collective, same on every rank. Throws InputError "FILE:LINE: ..." for a label given twice, an unknown
/// one (when that is an error), and for a file whose values add up to zero.
NodeValues read_node_values(const std::string& path, std::string_view column, const Graph& graph,
                            UnknownLabels unknown, Communicator& comm,
                            std::optional<double> value_if_none = std::nullopt);

struct PlacedLabel {
  std::string label;
  std::string place;  ///< FILE:LINE, or the option that gave it
};

/// Ids of `queries`; throws one InputError with the place of the first unknown one, which lists all of them
/// (the first 20 by name).
std::vector<VertexId> find_queries(const std::vector<PlacedLabel>& queries, const Graph& graph,
                                   Communicator& comm);

}  // namespace tessera::cli
