// Graphs with reference answers (tests/data/reference/README.md): the few that are in the repository and,
// where it is there, a folder with many more (TESSERA_REFERENCE_DATA).
#pragma once
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "engine/graph_options.hpp"

namespace tessera::test {

struct ReferenceAnswer {
  std::string name;                   ///< pagerank_uniform, pagerank_dropped, hits_authority, hits_hub, rwr
  std::string query;                  ///< label, "-" when there is none
  std::map<std::string, double> top;  ///< scores of the best hundred labels
  double sum = 0, sum_squares = 0, sum_positions = 0, largest = 0;
};

struct ReferenceGraph {
  std::string id;
  GraphOptions options;  ///< how to read it
  std::vector<ReferenceAnswer> answers;
};

/// "folder/id" cases; folders without graphs.tsv are left out.
struct ReferenceCase {
  std::string folder, id;
};
inline void PrintTo(const ReferenceCase& which, std::ostream* out) { *out << which.id; }
std::vector<ReferenceCase> reference_cases(const std::vector<std::string>& folders);

ReferenceGraph load_reference(const ReferenceCase& which);

}  // namespace tessera::test
