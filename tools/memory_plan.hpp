// How many bytes a rank needs, known before anything is packed: for --dry-run and the memory check.
#pragma once
#include <nlohmann/json.hpp>

#include "engine/graph.hpp"
#include "kernels/base/types.hpp"
#include "partition/communicator.hpp"

namespace tessera::cli {

struct MemoryShape {
  unsigned num_matrices = 1;      ///< HITS has two
  bool is_block = false;          ///< HITS: the two as one
  unsigned num_vectors = 1;       ///< that go through the matrix together
  std::uint64_t num_results = 1;  ///< vectors of scores kept until they are written
};

/// Of the rank with most.
struct MemoryPlan {
  std::uint64_t graph_bytes = 0;    ///< edges and labels as loaded
  std::uint64_t matrix_bytes = 0;   ///< packed, with an allowance for padding
  std::uint64_t packing_bytes = 0;  ///< more while packing, given back afterwards
  std::uint64_t vector_bytes = 0;   ///< scores in all three orders, sums, degrees, results
  std::uint64_t more_bytes() const { return matrix_bytes + packing_bytes + vector_bytes; }
};

/// Collective; same on every rank.
MemoryPlan plan_memory(const Graph& graph, const MemoryShape& shape, Precision precision, Communicator& comm);

nlohmann::ordered_json memory_json(const MemoryPlan& plan);

}  // namespace tessera::cli
