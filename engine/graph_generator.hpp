// Seeded synthetic graphs: R-MAT (power law) and uniform.
#pragma once
#include <cstdint>

#include "engine/parsed_edges.hpp"
#include "partition/communicator.hpp"

namespace tessera {

enum class GeneratorKind { rmat, uniform };

struct GeneratorOptions {
  GeneratorKind kind = GeneratorKind::rmat;
  int scale = 16;           ///< 2^scale vertices, 1..31
  double edge_factor = 16;  ///< edges a vertex, before duplicates merge
  std::uint64_t seed = 1;
  double a = 0.57, b = 0.19, c = 0.19;  ///< R-MAT quadrants (Graph500); d = 1 - a - b - c
  bool scramble_ids = true;             ///< R-MAT: hubs get scattered ids
};

/// Edges of this rank's share: the same graph for any number of threads and ranks (counter-based random
/// numbers: edge i depends on seed and i alone). Kind range, labels 0 .. 2^scale - 1. OptionError on
/// parameters out of range.
ParsedEdges generate_edges(const GeneratorOptions& options, Communicator& comm);

}  // namespace tessera
