// Cuts the graph of a square matrix into parts with few edges between them, with METIS: a library that is
// loaded when it is first asked for, as the program runs without it. Used by packet.hpp.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/csr_view.hpp"

namespace tessera {

/// The part, below num_parts, of each row and column. Parts have about as many rows each, some may have none.
/// The same in every run. METIS works in a child process. Throws ResourceError where METIS is not there,
/// fails, or takes longer than most_seconds (4 million elements of a power-law graph take about 10).
std::vector<std::uint32_t> cut_graph(const CsrView<double>& a, std::uint64_t num_parts,
                                     unsigned most_seconds = 60);

}  // namespace tessera
