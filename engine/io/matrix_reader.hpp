// Reads general sparse matrices (rectangular, any sign) for products: Matrix Market coordinate files.
// load_graph reads the same files as graphs, and takes square ones with weights that are not negative only.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/base/buffer.hpp"
#include "kernels/csr_view.hpp"

namespace tessera {

/// An m x n matrix on the host, in CSR: rows in order, columns ascending in a row, repeated entries added (in
/// the order of the file). Explicit zeros stay.
struct SparseMatrix {
  std::uint64_t num_rows = 0, num_cols = 0;
  Buffer<EdgeOffset> row_offsets;  ///< num_rows + 1
  Buffer<VertexId> col_indices;    ///< num_nonzeros, from 0
  Buffer<double> values;           ///< num_nonzeros, finite
  bool symmetric = false;          ///< the banner says symmetric; both triangles are here
  bool pattern = false;            ///< the file has no values and no entry twice: every value is 1

  EdgeOffset num_nonzeros() const { return col_indices.size(); }
  CsrView<double> view() const {
    return {num_rows, num_cols, row_offsets.data(), col_indices.data(), values.data()};
  }
  /// Without values where the file has none: forms that can do without them store no ones then.
  CsrView<double> product_view() const {
    return {num_rows, num_cols, row_offsets.data(), col_indices.data(), pattern ? nullptr : values.data()};
  }
};

/// Reads a Matrix Market "coordinate" file, compressed or not: real, double, integer, unsigned-integer or
/// pattern; general, symmetric or skew-symmetric. In the latter two an entry (i,j), i != j, stands for (j,i)
/// too, whichever triangle it is in; a file that lists both gets their sum. "-" is standard input. Throws
/// InputError with place and remedy; ResourceError when memory is short (it holds the whole text).
SparseMatrix read_matrix(const std::string& path);
/// Whether the file begins (after compression is taken off) with a Matrix Market banner. InputError when it
/// cannot be opened. Not for streams: what it looks at is lost to read_matrix.
bool is_matrix_file(const std::string& path);

}  // namespace tessera
