#include "engine/matrix_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/base/error.hpp"
#include "kernels/base/mix_bits.hpp"

namespace tessera {
namespace {

/// From 0 on, below 1; of the lower bits, by which the suite's matrices were made from the start.
double fraction(RandomBits& random) {
  constexpr std::uint64_t kSteps = std::uint64_t{1} << 53;
  return static_cast<double>(random.next() % kSteps) / static_cast<double>(kSteps);
}

using RowColumns = std::function<std::vector<VertexId>(VertexId row)>;

/// A square matrix of the columns that `columns_of` gives (in any order, repeats leave), values by place.
SparseMatrix pattern_matrix(std::uint64_t size, const RowColumns& columns_of) {
  std::vector<VertexId> columns;
  SparseMatrix matrix;
  matrix.num_rows = matrix.num_cols = size;
  matrix.row_offsets = Buffer<EdgeOffset>(size + 1);
  matrix.row_offsets[0] = 0;
  for (VertexId row = 0; row < size; ++row) {
    std::vector<VertexId> mine = columns_of(row);
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    columns.insert(columns.end(), mine.begin(), mine.end());
    matrix.row_offsets[row + 1] = columns.size();
  }
  matrix.col_indices = Buffer<VertexId>(columns.size());
  std::copy(columns.begin(), columns.end(), matrix.col_indices.begin());
  matrix.values = Buffer<double>(columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) matrix.values[k] = 0.25 + static_cast<double>(k % 7) / 4;
  return matrix;
}

SparseMatrix band(std::uint64_t size, VertexId reach) {
  return pattern_matrix(size, [=](VertexId row) {
    std::vector<VertexId> columns;
    for (VertexId c = row < reach ? 0 : row - reach; c <= row + reach && c < size; ++c) columns.push_back(c);
    return columns;
  });
}

SparseMatrix grid(VertexId side) {
  return pattern_matrix(std::uint64_t{side} * side, [=](VertexId row) {
    std::vector<VertexId> columns = {row};
    if (row % side > 0) columns.push_back(row - 1);
    if (row % side + 1 < side) columns.push_back(row + 1);
    if (row >= side) columns.push_back(row - side);
    if (row + side < side * side) columns.push_back(row + side);
    return columns;
  });
}

SparseMatrix arrow(VertexId size) {
  return pattern_matrix(size, [=](VertexId row) {
    std::vector<VertexId> columns = {0, row};
    for (VertexId c = 0; row == 0 && c < size; ++c) columns.push_back(c);
    return columns;
  });
}

SparseMatrix random_rows(VertexId size, unsigned length, std::uint64_t seed) {
  RandomBits random(seed);
  return pattern_matrix(size, [&](VertexId) {
    std::vector<VertexId> columns;
    for (unsigned k = 0; k < length; ++k) columns.push_back(static_cast<VertexId>(random.next() % size));
    return columns;
  });
}

/// Row lengths that fall off as a power, some rows empty; columns near 0 more often.
SparseMatrix power_law(VertexId size, double mean, std::uint64_t seed) {
  RandomBits random(seed);
  return pattern_matrix(size, [&](VertexId) {
    const double length = mean * (std::pow(fraction(random) + 1e-3, -0.6) - 1);
    std::vector<VertexId> columns;
    for (double k = 1; k <= length && k < size; ++k)
      columns.push_back(static_cast<VertexId>(std::pow(fraction(random), 3) * size));
    return columns;
  });
}

}  // namespace

std::vector<CsrView<double>> repeated_views(const std::vector<SparseMatrix>& matrices, std::uint64_t copies) {
  std::vector<CsrView<double>> views;
  views.reserve(matrices.size() * copies);
  for (std::uint64_t i = 0; i < copies; ++i)
    for (const SparseMatrix& matrix : matrices) views.push_back(matrix.product_view());
  return views;
}

SparseMatrix block_diagonal(const std::vector<CsrView<double>>& matrices) {
  SparseMatrix all;
  std::uint64_t num_nonzeros = 0;
  for (const CsrView<double>& a : matrices) {
    all.num_rows += a.num_rows;
    all.num_cols += a.num_cols;
    num_nonzeros += a.num_nonzeros();
  }
  if (all.num_rows > kMaxVertices || all.num_cols > kMaxVertices)
    throw ResourceError(fmt::format("the batch has {} rows and {} columns, at most {} of each are possible",
                                    all.num_rows, all.num_cols, kMaxVertices));
  all.row_offsets = Buffer<EdgeOffset>(all.num_rows + 1);
  all.col_indices = Buffer<VertexId>(num_nonzeros);
  all.values = Buffer<double>(num_nonzeros);
  std::uint64_t row = 0, to = 0, first_col = 0;
  for (const CsrView<double>& a : matrices) {
    for (std::uint64_t i = 0; i < a.num_rows; ++i) {
      all.row_offsets[row++] = to;
      for (EdgeOffset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k, ++to) {
        all.col_indices[to] = static_cast<VertexId>(first_col + a.col_indices[k]);
        all.values[to] = a.values == nullptr ? 1 : a.values[k];
      }
    }
    first_col += a.num_cols;
  }
  all.row_offsets[row] = to;
  return all;
}

std::vector<NamedMatrix> small_suite() {
  std::vector<NamedMatrix> suite;
  suite.push_back({"chain-1024", band(1024, 1)});
  suite.push_back({"band-512-4", band(512, 4)});
  suite.push_back({"band-1000-12", band(1000, 12)});
  suite.push_back({"grid-16x16", grid(16)});
  suite.push_back({"grid-32x32", grid(32)});
  suite.push_back({"arrow-256", arrow(256)});
  suite.push_back({"random-128-8", random_rows(128, 8, 1)});
  suite.push_back({"random-900-5", random_rows(900, 5, 2)});
  suite.push_back({"random-1000-30", random_rows(1000, 30, 3)});
  suite.push_back({"power-law-600", power_law(600, 4, 4)});
  suite.push_back({"power-law-1024", power_law(1024, 6, 5)});
  suite.push_back({"full-32", band(32, 32)});
  return suite;
}

}  // namespace tessera
