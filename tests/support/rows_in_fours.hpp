// What a device's product of many f32 vectors has to be, bit for bit (kernels/rows_in_fours.hpp), element by
// element.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/rows_in_fours.hpp"
#include "kernels/tile_composite.hpp"

namespace tessera::test {

/// y of rows with elements; others stay as they are.
inline void multiply_in_fours(const CsrMatrix<float>& a, const std::vector<float>& x, unsigned num_vectors,
                              std::vector<double>& y) {
  const auto four = [&](EdgeOffset first, EdgeOffset end, unsigned q) {
    std::array<float, 4> inputs{}, values{};
    for (EdgeOffset k = first; k < end && k < first + 4; ++k) {
      inputs[k - first] = x[std::uint64_t{a.col_indices[k]} * num_vectors + q];
      values[k - first] = a.values.empty() ? 1.0f : a.values[k];
    }
    if (a.values.empty()) return static_cast<double>((inputs[0] + inputs[1]) + (inputs[2] + inputs[3]));
    const auto product = [&](int j) {
      return static_cast<double>(values[j]) * static_cast<double>(inputs[j]);
    };
    return (product(0) + product(1)) + (product(2) + product(3));
  };
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    const EdgeOffset begin = a.row_offsets[row], end = a.row_offsets[row + 1];
    if (begin == end) continue;
    const PiecesInFours cut = pieces_in_fours(end - begin, most_of_piece(a.num_slots));
    for (unsigned q = 0; q < num_vectors; ++q) {
      const auto piece = [&](std::uint64_t which) {
        const EdgeOffset first = std::min(begin + which * cut.length, end),
                         last = std::min(first + cut.length, end);
        double sum = 0;
        for (EdgeOffset k = first; k < last; k += 4) sum += four(k, last, q);
        return sum;
      };
      double sum = 0;
      for (std::uint64_t run = 0; run < cut.num_runs; ++run)
        sum += ((piece(4 * run) + piece(4 * run + 1)) + piece(4 * run + 2)) + piece(4 * run + 3);
      y[row * num_vectors + q] = sum;
    }
  }
}

/// y = A x by `matrix`, which is csr() on the backend; of a device's rows in fours, whose order no product of
/// the CPU has, by the definition where the backend is the CPU's: only then csr is called.
template <class S, class Csr>
void multiply_csr(const Backend<S>& backend, const Matrix<S>& matrix, const Csr& csr, const Buffer<S>& x,
                  Buffer<double>& y, unsigned num_vectors) {
  if constexpr (sizeof(S) == sizeof(float))
    if (backend.memory_is_host() && adds_in_fours(num_vectors, sizeof(S))) {
      std::vector<double> sums(y.begin(), y.end());
      multiply_in_fours(csr(), {x.begin(), x.end()}, num_vectors, sums);
      std::copy(sums.begin(), sums.end(), y.begin());
      return;
    }
  matrix.apply(x, y, num_vectors);
}

}  // namespace tessera::test
