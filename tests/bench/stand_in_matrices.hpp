// Generated matrices in the place of those that the papers measured: as many rows, columns and non-zeros, row
// lengths distributed alike, and columns where the kind of matrix has them. Not their patterns.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/io/matrix_reader.hpp"

namespace tessera::bench {

enum class Lengths {
  normal,    ///< mean of the sizes, standard deviation `deviation`, between 1 and `longest`, once `longest`
  power,     ///< the r-th longest row as long as r to the power of -`steepness`, at most `longest`
  quarters,  ///< shares of rows up to a quarter and above three quarters of `longest`, the rest between
};
enum class Places {
  band,     ///< in a window around the diagonal, `reach` times as wide as the row is long
  uniform,  ///< anywhere, one in each of as many equal parts of the columns
  skewed,   ///< hubs are in many rows: the r-th most frequent column with frequency r^(1 / `skew` - 1)
};

struct StandIn {
  const char* name = "";  ///< of the matrix whose place it takes
  std::uint64_t num_rows = 0, num_cols = 0, num_nonzeros = 0;
  Lengths lengths = Lengths::normal;
  std::uint64_t longest = 0;  ///< 0: as long as there are columns
  double deviation = 0, steepness = 0;
  double short_share = 0, long_share = 0;  ///< for Lengths::quarters, which does not ask for num_nonzeros
  Places places = Places::uniform;
  double reach = 0, skew = 0;
  unsigned run = 1;             ///< columns that stand beside each other, as unknowns of one node do
  std::uint64_t scaled_by = 1;  ///< rows, columns and non-zeros are divided by it; the mean length stays
};

/// The sizes divided by its scaled_by and by `shrink`; a full matrix stays full.
StandIn scaled(StandIn stand_in, std::uint64_t shrink);

/// Lengths of the rows: with as many non-zeros as asked for where `lengths` is not `quarters`. Of the sizes
/// as they are, so scaled() comes first. Throws InternalError where they cannot be had.
std::vector<std::uint32_t> row_lengths(const StandIn& stand_in, std::uint64_t seed);
/// The same matrix for the same seed, whatever the number of threads; values of 0.25 to 1.75.
SparseMatrix generate(const StandIn& stand_in, std::uint64_t seed = 1);

}  // namespace tessera::bench
