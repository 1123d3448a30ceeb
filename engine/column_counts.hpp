// How often each column comes up among elements that are in any order.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/base/buffer.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

/// columns: < num_columns each. The number of elements of every column. By all threads; meanwhile it takes 4
/// bytes a column and thread, 16 MiB for each thread at most, or 2 bytes an element, 128 MiB at most.
Buffer<std::uint64_t> column_counts(std::span<const VertexId> columns, std::uint64_t num_columns);

}  // namespace tessera
