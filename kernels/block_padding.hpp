// How wide blocks of vectors are made for products on a CPU, and row by row on a GPU
// (kernels/cuda/cuda_spmv_csr_wide.cu), which plans of time and memory have to know, too.
#pragma once
#include "kernels/base/types.hpp"

namespace tessera {

/// Vectors that go through a matrix together on a CPU, at most: in f64 a column of so many is a line of
/// memory. More take up to three times as long for each, as x fits caches less and less (docs/benchmarks.md).
inline constexpr unsigned kMostHostVectors = 8;

/// What a GPU reads at once for a thread, and a sector of its caches.
inline constexpr unsigned kDeviceLoadBytes = 16, kDeviceSectorBytes = 32;
/// Blocks of so many vectors stay as they are.
inline constexpr unsigned kFewVectors = 16;

/// Vectors, so many or some more, that a block of them is best made of on a GPU: many of f32 are padded, so
/// that a thread reads inputs of several at once and those of every column begin where a sector does. In f64,
/// and of fewer vectors, that took longer (docs/performance.md).
constexpr std::uint64_t padded_vectors(std::uint64_t num_vectors, std::uint64_t value_bytes) {
  constexpr std::uint64_t kOfSector = kDeviceSectorBytes / sizeof(float);
  const bool stays = value_bytes != sizeof(float) || num_vectors <= kFewVectors;
  return stays ? num_vectors : round_up(num_vectors, kOfSector);
}

/// How rows are dealt to groups of threads for blocks (kernels/cuda/cuda_row_runs.hpp), at most: a run for
/// every second row, if all others are empty, and one for so many elements; and sums of rows just long enough
/// to be cut. Small matrices have some 20,000 runs more, so that every multiprocessor has some.
struct MostOfDeal {
  double elements_of_run, sums_an_element;
};
inline constexpr MostOfDeal kMostOfDeal{128, 3.0 / 513}, kMostOfDealInFours{256, 2.0 / 1025};

}  // namespace tessera
