// Which forms of a product suit a matrix, from facts that one pass over it gives: those that
// `tessera spmv --kernel auto` tries, and the one that `tessera cg --prepare auto` prepares.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/csr_view.hpp"

namespace tessera {

struct RowLengthStats {
  std::uint64_t num_rows = 0, num_cols = 0, num_nonzeros = 0;
  double mean = 0, deviation = 0;
  std::uint64_t longest = 0;
  std::uint64_t num_filled = 0;  ///< rows with an element
  double usual_deviation = 0;    ///< of the rows of at most 100 means, over their mean
};
/// matrix: of any shape, empty, too: then all is 0.
RowLengthStats row_length_stats(const CsrView<double>& matrix);

struct MatrixFacts {
  RowLengthStats lengths;
  bool has_values = true;
  std::uint64_t num_diagonals = 0;  ///< with an element; 0: more than 64
  double scatter =
      0;  ///< places of x of 32 bytes (f32) that 32 neighbouring rows read, an element: 1 at most
};
/// A look at every element: what likely_forms() goes by.
MatrixFacts matrix_facts(const CsrView<double>& matrix);

/// The forms (names of product_forms) of which one is about as fast as any of ours: those, 8 at most, that
/// facts do not rule out (docs/formats.md).
std::vector<std::string> likely_forms(const MatrixFacts& facts, bool on_device);

/// The form that is expected to be the fastest of ours. On a device by limits read
/// off what an H200 measured (docs/formats.md), which hold less often than a trial of likely_forms; on a host
/// only even rows and others are told apart.
std::string choose_form(const MatrixFacts& facts, bool on_device, bool in_f64);

}  // namespace tessera
