// Labels appended to text without a string of their own; used by the writers, once for each node.
#pragma once
#include <string_view>

#include "engine/label_table.hpp"

namespace tessera {

/// Whether the labels are 64-bit integers (kinds range and integer).
inline bool has_integer_labels(const LabelTable& labels) { return labels.kind != LabelKind::string; }

/// Of a vertex held in `labels`, whose kind is not string.
inline std::uint64_t integer_label(const LabelTable& labels, VertexId id) {
  return labels.kind == LabelKind::range ? labels.first_label + id : labels.integers[id - labels.first_id];
}

/// Of a vertex held in `labels`, whose kind is string.
inline std::string_view string_label(const LabelTable& labels, VertexId id) {
  const std::uint64_t begin = labels.string_offsets[id - labels.first_id];
  const std::uint64_t end = labels.string_offsets[id - labels.first_id + 1];
  return {labels.string_bytes.data() + begin, end - begin};
}

}  // namespace tessera
