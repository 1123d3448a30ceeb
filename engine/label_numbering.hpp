// Numbers the labels of all ranks in label order. Each rank brings the sorted distinct labels it has seen;
// labels travel to the rank that owns their range, are merged there, and their ids travel back.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/parsed_edges.hpp"
#include "partition/communicator.hpp"

namespace tessera {

using IntegerList = std::vector<std::uint64_t>;
using StringList = StringDictionary;

inline std::uint64_t label_at(const IntegerList& list, std::uint64_t i) { return list[i]; }
inline std::string_view label_at(const StringList& list, std::uint64_t i) { return list.text(i); }

template <class List>
struct LabelNumbering {
  std::uint64_t num_vertices = 0;
  std::vector<VertexId> ids;  ///< of this rank's labels, in their order
  List block;                 ///< labels of this rank's block of ids
};

/// Collective. InputError when there are more than kMaxVertices labels.
template <class List>
LabelNumbering<List> number_labels(List sorted_distinct, Communicator& comm);

}  // namespace tessera
