// When a loop is worth several threads: waking them and waiting for the last one costs some microseconds, and
// far more where another process has the core.
#pragma once
#include <cstdint>

namespace tessera::cpu {

/// Elements (rows, non-zeros) below which one thread does the loop.
inline constexpr std::uint64_t kParallelElements = 1 << 14;

inline bool pays_threads(std::uint64_t num_elements) { return num_elements >= kParallelElements; }

}  // namespace tessera::cpu
