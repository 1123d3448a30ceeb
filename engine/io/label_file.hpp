// Small files that name vertices: personalization (label, weight), warm start (label, score), queries
// (label). Found by the labels of a graph.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/label_table.hpp"
#include "partition/communicator.hpp"

namespace tessera {

struct LabelValue {
  std::string label;
  double value = 0;
  std::uint64_t line = 0;
};

/// Lines "label<TAB or comma or white space>value"; # comments, a header line "node,score" and CSV quotes
/// are accepted (so that our own output can be read back). The value is in the second column, or where a
/// header line names `column`; other columns are ignored. A label alone has value_if_none, if there is one.
/// Values must be finite and not negative. Collective: rank 0 reads, all receive; at least one. Throws
/// InputError "FILE:LINE: ...".
std::vector<LabelValue> read_label_values(const std::string& path, std::string_view column,
                                          Communicator& comm,
                                          std::optional<double> value_if_none = std::nullopt);
/// One label a line, as it is or in CSV quotes; lines that begin with #, % or // are comments, so a label
/// that does needs quotes. Quotes that do not enclose the whole line belong to the label. The value is 0.
std::vector<LabelValue> read_label_list(const std::string& path, Communicator& comm);

/// Global ids of `labels`, kNoVertex where a label is unknown; collective, same answer on every rank.
std::vector<VertexId> find_labels(std::span<const std::string> labels, const LabelTable& table,
                                  Communicator& comm);

}  // namespace tessera
