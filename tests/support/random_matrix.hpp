// Small random matrices with power-law-like columns for tests of the formats.
#pragma once
#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "kernels/base/buffer.hpp"
#include "kernels/csr_view.hpp"

namespace tessera::test {

struct RandomMatrix {
  std::uint64_t num_rows = 0, num_cols = 0;
  std::vector<EdgeOffset> row_offsets;
  std::vector<VertexId> col_indices;
  std::vector<double> values;  // empty when pattern-only

  CsrView<double> view() const {
    return {num_rows, num_cols, row_offsets.data(), col_indices.data(),
            values.empty() ? nullptr : values.data()};
  }
  std::vector<std::uint64_t> row_lengths() const {
    std::vector<std::uint64_t> lengths(num_rows);
    for (std::uint64_t i = 0; i < num_rows; ++i) lengths[i] = row_offsets[i + 1] - row_offsets[i];
    return lengths;
  }
  std::vector<std::uint64_t> column_lengths() const {
    std::vector<std::uint64_t> lengths(num_cols, 0);
    for (VertexId column : col_indices) ++lengths[column];
    return lengths;
  }
};

/// Rows of skewed length (some empty, some longer than num_cols / 2) over skewed columns, no repeats.
inline RandomMatrix random_matrix(unsigned seed, std::uint64_t num_rows, std::uint64_t num_cols,
                                  double mean_length, bool weighted) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  RandomMatrix a;
  a.num_rows = num_rows;
  a.num_cols = num_cols;
  a.row_offsets.push_back(0);
  for (std::uint64_t i = 0; i < num_rows; ++i) {
    const double length = mean_length * std::pow(uniform(engine) + 1e-3, -0.7) - mean_length;
    std::vector<VertexId> columns;
    for (double k = 0; k < length && k < static_cast<double>(num_cols); ++k)
      columns.push_back(static_cast<VertexId>(std::pow(uniform(engine), 3) * static_cast<double>(num_cols)));
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    a.col_indices.insert(a.col_indices.end(), columns.begin(), columns.end());
    a.row_offsets.push_back(a.col_indices.size());
  }
  if (weighted)
    for (std::size_t k = 0; k < a.col_indices.size(); ++k) a.values.push_back(uniform(engine) + 0.25);
  return a;
}

/// Rows become columns; of elements that lie in one place all stay, in their order.
inline RandomMatrix turned(const RandomMatrix& a) {
  RandomMatrix result{
      .num_rows = a.num_cols, .num_cols = a.num_rows, .row_offsets = {0}, .col_indices = {}, .values = {}};
  std::vector<std::vector<std::pair<VertexId, double>>> rows(a.num_cols);
  for (std::uint64_t row = 0; row < a.num_rows; ++row)
    for (std::uint64_t e = a.row_offsets[row]; e < a.row_offsets[row + 1]; ++e)
      rows[a.col_indices[e]].emplace_back(static_cast<VertexId>(row), a.values.empty() ? 1 : a.values[e]);
  for (const auto& row : rows) {
    for (const auto& [column, value] : row) {
      result.col_indices.push_back(column);
      if (!a.values.empty()) result.values.push_back(value);
    }
    result.row_offsets.push_back(result.col_indices.size());
  }
  return result;
}

/// Every element of a square pattern and what it is turned round, each once.
inline RandomMatrix in_both_directions(const RandomMatrix& a) {
  RandomMatrix result{
      .num_rows = a.num_rows, .num_cols = a.num_cols, .row_offsets = {0}, .col_indices = {}, .values = {}};
  std::vector<std::set<VertexId>> rows(a.num_rows);
  for (std::uint64_t row = 0; row < a.num_rows; ++row)
    for (std::uint64_t e = a.row_offsets[row]; e < a.row_offsets[row + 1]; ++e) {
      rows[row].insert(a.col_indices[e]);
      rows[a.col_indices[e]].insert(static_cast<VertexId>(row));
    }
  for (const std::set<VertexId>& row : rows) {
    result.col_indices.insert(result.col_indices.end(), row.begin(), row.end());
    result.row_offsets.push_back(result.col_indices.size());
  }
  return result;
}

/// A matrix of these row lengths, columns evenly apart.
inline RandomMatrix matrix_of_row_lengths(const std::vector<std::uint64_t>& lengths, std::uint64_t num_cols) {
  RandomMatrix a;
  a.num_cols = num_cols;
  a.row_offsets.push_back(0);
  for (const std::uint64_t length : lengths) {
    for (std::uint64_t k = 0; k < length; ++k)
      a.col_indices.push_back(static_cast<VertexId>((k * num_cols + a.num_rows) / length % num_cols));
    std::sort(a.col_indices.end() - static_cast<std::ptrdiff_t>(length), a.col_indices.end());
    a.row_offsets.push_back(a.col_indices.size());
    ++a.num_rows;
  }
  return a;
}

}  // namespace tessera::test
