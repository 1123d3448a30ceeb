// What the first bytes of a text tell about the rest: found once by format_probe, obeyed by the parser.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/graph_options.hpp"

namespace tessera {

struct TextFormat {
  InputFormat format = InputFormat::edge_list;  ///< never automatic or cache
  std::string name;                             ///< for people: "edge list", "CSV", ...
  char delimiter = 0;                           ///< 0 = any run of blanks and tabs
  bool quotes = false;                          ///< fields may be quoted as in RFC 4180
  std::size_t source_column = 0;
  std::size_t target_column = 1;
  std::size_t weight_column = 2;  ///< used when weighted
  bool weighted = false;
  bool undirected = false;
  bool bipartite = false;         ///< the two columns number different vertices
  bool string_labels = false;     ///< strings from the start
  bool integer_labels = false;    ///< anything but integers is an error
  std::uint64_t body_offset = 0;  ///< first byte after byte-order mark and header
  std::uint64_t body_line = 1;    ///< number of the line that starts there
  std::vector<std::string> notes;

  bool is_matrix = false;         ///< Matrix Market; the fields below are then set
  std::uint64_t matrix_size = 0;  ///< rows = columns
  std::uint64_t matrix_entries = 0;
  bool has_values = false;  ///< each entry has a third column

  std::size_t columns_used() const {
    const std::size_t last = source_column > target_column ? source_column : target_column;
    const bool third = weighted || has_values;
    return (third && weight_column > last ? weight_column : last) + 1;
  }
};

}  // namespace tessera
