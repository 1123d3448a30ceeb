// The integer types of the whole project and checked arithmetic on sizes.
// Vertices fit 32 bits (a rank holds several vectors with one entry for each vertex); edges never do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/base/host_device.hpp"

namespace tessera {

using VertexId = std::uint32_t;    ///< a vertex, a row, a column or a slot of x
using EdgeOffset = std::uint64_t;  ///< a position in an array with one entry for each (stored) edge

/// Largest number of vertices a graph may have: ids must stay below the "no vertex" mark.
inline constexpr std::uint64_t kMaxVertices = std::numeric_limits<VertexId>::max() - 1;
inline constexpr VertexId kNoVertex = std::numeric_limits<VertexId>::max();

/// Rounded up; value + divisor must not overflow, nor what round_up() gives.
template <class T>
TESSERA_HD constexpr T ceil_div(T value, T divisor) {
  return (value + divisor - 1) / divisor;
}

template <class T>
TESSERA_HD constexpr T round_up(T value, T multiple) {
  return ceil_div(value, multiple) * multiple;
}

/// a * b or a + b of sizes that came from outside; throws ResourceError where 64 bits do not hold it.
std::uint64_t checked_mul(std::uint64_t a, std::uint64_t b);
std::uint64_t checked_add(std::uint64_t a, std::uint64_t b);

/// How a graph's values are stored on the solver side.
enum class Precision { f32, f64 };

}  // namespace tessera
