#include "kernels/formats/packet.hpp"

#include <fmt/format.h>

#include "kernels/base/error.hpp"

namespace tessera {

void check_square(const CsrView<double>& a) {
  if (a.num_rows != a.num_cols)
    throw OptionError(
        fmt::format("packet: the matrix is {} x {}; only a square one has the same parts of rows and columns",
                    a.num_rows, a.num_cols));
}

void check_packets(std::uint64_t num_outside, std::uint64_t num_nonzeros, std::uint64_t num_parts) {
  if (num_outside > num_nonzeros / 2)
    throw OptionError(
        fmt::format("packet would store {} of {} elements outside its {} packets (at most half); "
                    "this graph cannot be cut",
                    num_outside, num_nonzeros, num_parts));
}

std::vector<std::uint32_t> packet_parts(const CsrView<double>& a, std::uint32_t most_rows) {
  check_square(a);
  if (a.num_rows <= most_rows) return std::vector<std::uint32_t>(a.num_rows, 0);
  // METIS lets parts be 3 % larger than the mean.
  const std::uint64_t mean_rows = std::max<std::uint64_t>(1, most_rows - ceil_div(most_rows, 16u));
  return cut_graph(a, ceil_div(a.num_rows, mean_rows));
}

}  // namespace tessera
