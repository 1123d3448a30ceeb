// What the papers measured: sizes and row lengths of their tables and of the collections that they come from.
#pragma once
#include <vector>

#include "tests/bench/stand_in_matrices.hpp"

namespace tessera::bench {

/// Graphs of Yang, Parthasarathy and Sadayappan (2011), table 2; the large ones scaled down.
std::vector<StandIn> power_law_stand_ins();
/// Bell and Garland's 14 matrices, but for Webbase, which is with the graphs.
std::vector<StandIn> unstructured_stand_ins();
/// Table I of Vazquez, Fernandez and Garzon (2011); the largest scaled down.
std::vector<StandIn> ellpack_stand_ins();
/// Matam and Kothapalli (2011), section IV: three densities, rows up to 64, 96 and 128.
std::vector<StandIn> density_stand_ins();
/// The 32 small matrices of Anzt and others (2017).
std::vector<StandIn> batch_stand_ins();

}  // namespace tessera::bench
