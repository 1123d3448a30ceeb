// How many bytes a rank needs, known before anything is packed: for --dry-run and the memory check.
#pragma once
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/graph.hpp"
#include "engine/spmv_plan.hpp"
#include "kernels/base/types.hpp"
#include "partition/communicator.hpp"

namespace tessera::cli {

struct MemoryShape {
  unsigned num_matrices = 1;      ///< HITS has two
  bool is_block = false;          ///< HITS: the two as one
  unsigned num_vectors = 1;       ///< that are solved for at once
  unsigned batch = 1;             ///< as many of these go through a matrix together that gains from it
  std::uint64_t num_results = 1;  ///< vectors of all scores, or as much, kept until they are written
  bool accelerates = false;       ///< where each step began is kept, too
  bool packs_on_device = false;   ///< chosen: tile-messages and CSR are packed there
};

/// Of the rank with most.
struct MemoryPlan {
  std::uint64_t graph_bytes = 0;    ///< edges and labels as loaded
  std::uint64_t matrix_bytes = 0;   ///< packed, with an allowance for padding
  std::uint64_t packing_bytes = 0;  ///< more while packing, given back afterwards
  std::uint64_t vector_bytes = 0;   ///< scores in all three orders, sums, degrees, results
  std::uint64_t more_bytes() const { return matrix_bytes + packing_bytes + vector_bytes; }
};

/// on_device: the plan for a GPU's matrix, null where the host computes. Collective; same on every rank.
MemoryPlan plan_memory(const Graph& graph, const MemoryShape& shape, Precision precision, Communicator& comm,
                       const SpmvPlan* on_device = nullptr);
/// What check_memory() advises where such a plan does not fit.
std::string memory_remedy(const MemoryShape& shape, Precision precision, const SpmvPlan* on_device = nullptr);

/// What a rank's GPU holds, by the plan for the matrix. Part of it does not shrink with more GPUs.
struct DeviceMemoryPlan {
  std::uint64_t matrix_bytes = 0;    ///< packed, with messages
  std::uint64_t packing_bytes = 0;   ///< more while one matrix is packed there, before there are vectors
  std::uint64_t vector_bytes = 0;    ///< of this rank's rows
  std::uint64_t exchange_bytes = 0;  ///< x, and what comes with other ranks: the same on every rank
  std::uint64_t bytes() const {
    return matrix_bytes + exchange_bytes + std::max(packing_bytes, vector_bytes);
  }
};
DeviceMemoryPlan plan_device_memory(const Graph& graph, const SpmvPlan& plan, const MemoryShape& shape,
                                    Precision precision, std::uint64_t num_ranks);
/// Throws ResourceError with these numbers when `free_bytes` is less, and says how many GPUs would do. The
/// answer is the same on all ranks. Collective.
void check_device_memory(const Graph& graph, const SpmvPlan& plan, const MemoryShape& shape,
                         Precision precision, std::uint64_t free_bytes, Communicator& comm);

/// From so many edges on a GPU packs R-MAT graphs sooner than the host, and the web graph cnr-2000 as soon
/// (docs/benchmarks.md).
inline constexpr std::uint64_t kEdgesWorthDevicePacking = std::uint64_t{1} << 20;
/// Whether matrices of `shape` are best packed on the GPU: it is worth it, and takes no more than half of the
/// memory that is free on every rank's. Collective; same on every rank.
bool pays_to_pack_on_device(const Graph& graph, const SpmvPlan& plan, MemoryShape shape, Precision precision,
                            std::uint64_t free_bytes, Communicator& comm);

nlohmann::ordered_json memory_json(const MemoryPlan& plan);
nlohmann::ordered_json memory_json(const DeviceMemoryPlan& plan);

}  // namespace tessera::cli
