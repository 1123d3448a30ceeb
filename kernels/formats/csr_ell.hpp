// csr-ell (Matam and Kothapalli 2011, algorithm 1): rows below a threshold in an ELL of warps, several
// threads a row; longer rows in CSR, several warps a row; one launch for both.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/formats/sparse_product.hpp"

namespace tessera {

/// T, M and L of the paper, from the lengths of the rows (its section III-B).
struct CsrEllThresholds {
  std::uint64_t row_length = 0;       ///< T: shorter rows are in ELL
  std::uint64_t thread_elements = 0;  ///< M: more of an ELL row take several threads
  std::uint64_t warp_elements = 0;    ///< L: more of a CSR row take several warps
};
CsrEllThresholds csr_ell_thresholds(const CsrView<double>& a);

/// Rows of an ELL part that one warp works on: thread t takes the elements t % threads, + threads, ... of row
/// t / threads; its k-th one lies at first_element + 32 k + t.
struct EllWarp {
  std::uint32_t first_row = 0;  ///< into ell_rows
  std::uint32_t num_rows = 0;
  std::uint32_t first_element = 0;
  std::uint16_t threads = 1, width = 0;  ///< of a row; elements of a thread
};

/// Elements [begin, end) of a CSR row.
struct CsrWarp {
  VertexId row = 0;
  std::uint32_t begin = 0, end = 0;
  std::uint32_t is_whole_row = 1;  ///< else the sum is added to y
};

template <class S>
struct CsrEll {
  using Value = S;
  std::uint64_t num_rows = 0;
  Buffer<VertexId> ell_rows;  ///< shortest first
  Buffer<EllWarp> ell_warps;
  Buffer<CsrWarp> csr_warps;
  Buffer<VertexId> col_indices;  ///< of the ELL part, then of the CSR part
  Buffer<S> values;
  bool has_shared_rows = false;  ///< of several warps

  explicit CsrEll(const CsrView<double>& a) : CsrEll(a, csr_ell_thresholds(a)) {}
  CsrEll(const CsrView<double>& a, const CsrEllThresholds& limits) : num_rows(a.num_rows) {
    std::vector<VertexId> short_rows, long_rows;
    for (std::uint64_t row = 0; row < num_rows; ++row)
      (row_length(a, row) < limits.row_length ? short_rows : long_rows).push_back(static_cast<VertexId>(row));
    std::stable_sort(short_rows.begin(), short_rows.end(),
                     [&](VertexId u, VertexId v) { return row_length(a, u) < row_length(a, v); });
    std::uint64_t size = deal_short_rows(a, short_rows, limits);
    const std::uint64_t ell_size = size;
    size = deal_long_rows(a, long_rows, limits, size);
    col_indices = Buffer<VertexId>(size);
    values = Buffer<S>(size);
    std::fill_n(col_indices.begin(), ell_size, VertexId{0});
    std::fill_n(values.begin(), ell_size, S{0});
    fill_short_rows(a);
    fill_long_rows(a, long_rows, ell_size);
  }
  std::uint64_t num_stored() const { return values.size(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    visit(self.ell_rows);
    visit(self.ell_warps);
    visit(self.csr_warps);
    visit(self.col_indices);
    visit(self.values);
  }

 private:
  static constexpr std::uint64_t kWarp = 32;

  /// As many rows a warp as its threads allow at the length of the longest; gives the elements stored.
  std::uint64_t deal_short_rows(const CsrView<double>& a, const std::vector<VertexId>& rows,
                                const CsrEllThresholds& limits) {
    ell_rows = Buffer<VertexId>(rows.size());
    std::copy(rows.begin(), rows.end(), ell_rows.begin());
    std::vector<EllWarp> warps;
    std::uint64_t size = 0;
    const auto threads_for = [&](std::uint64_t i) {
      return std::max<std::uint64_t>(1, ceil_div(row_length(a, rows[i]), limits.thread_elements));
    };
    for (std::uint64_t first = 0, end; first < rows.size(); first = end) {
      end = first + 1;
      while (end < rows.size() && (end + 1 - first) * threads_for(end) <= kWarp) ++end;
      const std::uint64_t threads = threads_for(end - 1);
      const std::uint64_t width = ceil_div(row_length(a, rows[end - 1]), threads);
      warps.push_back({.first_row = static_cast<std::uint32_t>(first),
                       .num_rows = static_cast<std::uint32_t>(end - first),
                       .first_element = checked_size(size),
                       .threads = static_cast<std::uint16_t>(threads),
                       .width = static_cast<std::uint16_t>(width)});
      size += kWarp * width;
    }
    ell_warps = Buffer<EllWarp>(warps.size());
    std::copy(warps.begin(), warps.end(), ell_warps.begin());
    return checked_padding("csr-ell", size, a.num_nonzeros());
  }

  std::uint64_t deal_long_rows(const CsrView<double>& a, const std::vector<VertexId>& rows,
                               const CsrEllThresholds& limits, std::uint64_t size) {
    std::vector<CsrWarp> warps;
    for (const VertexId row : rows) {
      const std::uint64_t length = row_length(a, row), count = ceil_div(length, limits.warp_elements);
      for (std::uint64_t i = 0; i < count; ++i)
        warps.push_back({.row = row,
                         .begin = checked_size(size + i * limits.warp_elements),
                         .end = checked_size(size + std::min(length, (i + 1) * limits.warp_elements)),
                         .is_whole_row = count == 1});
      has_shared_rows = has_shared_rows || count > 1;
      size += length;
    }
    csr_warps = Buffer<CsrWarp>(warps.size());
    std::copy(warps.begin(), warps.end(), csr_warps.begin());
    return checked_size(size);
  }

  void fill_short_rows(const CsrView<double>& a) {
#pragma omp parallel for schedule(static)
    for (std::uint64_t w = 0; w < ell_warps.size(); ++w) {
      const EllWarp& warp = ell_warps[w];
      for (std::uint32_t i = 0; i < warp.num_rows; ++i) {
        const VertexId row = ell_rows[warp.first_row + i];
        for (std::uint64_t k = 0; k < row_length(a, row); ++k) {
          const std::uint64_t to =
              warp.first_element + kWarp * (k / warp.threads) + i * warp.threads + k % warp.threads;
          col_indices[to] = a.col_indices[a.row_offsets[row] + k];
          values[to] = element_value<S>(a, a.row_offsets[row] + k);
        }
      }
    }
  }

  void fill_long_rows(const CsrView<double>& a, const std::vector<VertexId>& rows, std::uint64_t to) {
    for (const VertexId row : rows)
      for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k, ++to) {
        col_indices[to] = a.col_indices[k];
        values[to] = element_value<S>(a, k);
      }
  }
};

template <class S>
void multiply_on_host(const CsrEll<S>& a, const S* x, S* y) {
  std::fill_n(y, a.num_rows, S{0});
#pragma omp parallel for schedule(static)
  for (std::uint64_t w = 0; w < a.ell_warps.size(); ++w) {
    const EllWarp& warp = a.ell_warps[w];
    for (std::uint32_t t = 0; t < warp.num_rows * warp.threads; ++t) {
      S sum = 0;
      for (std::uint32_t k = 0, at = warp.first_element + t; k < warp.width; ++k, at += 32)
        sum += a.values[at] * x[a.col_indices[at]];
      y[a.ell_rows[warp.first_row + t / warp.threads]] += sum;
    }
  }
  for_ranges_of_rows(
      a.csr_warps.size(), [&](std::uint64_t w) { return a.csr_warps[w].row == a.csr_warps[w - 1].row; },
      [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t w = begin; w < end; ++w) {
          const CsrWarp& warp = a.csr_warps[w];
          S sum = 0;
          for (std::uint32_t k = warp.begin; k < warp.end; ++k) sum += a.values[k] * x[a.col_indices[k]];
          y[warp.row] += sum;
        }
      });
}

// kernels/cuda/formats/cuda_csr_ell.cu
template <class S>
void multiply_on_device(const CsrEll<S>& a, const S* x, S* y);

}  // namespace tessera
