#include "kernels/formats/sparse_product.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/error.hpp"

namespace tessera {

std::uint32_t checked_size(std::uint64_t num_stored) {
  // Kernels count in 32 bits, some steps beyond the end.
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 32) - kStepsBeyond;
  if (num_stored > kMost)
    throw ResourceError(fmt::format("{} stored elements, a format takes at most {}", num_stored, kMost));
  return static_cast<std::uint32_t>(num_stored);
}

void check_padding(const char* name, std::uint64_t num_stored, std::uint64_t num_nonzeros) {
  constexpr std::uint64_t kSmall = 4096;
  if (num_stored > kSmall && num_stored > kMostPadding * num_nonzeros)
    throw OptionError(fmt::format(
        "{} would store {} elements for {}, {:.0f} times as many (at most {} times)", name, num_stored,
        num_nonzeros, static_cast<double>(num_stored) / static_cast<double>(num_nonzeros), kMostPadding));
}

std::uint32_t checked_padding(const char* name, std::uint64_t num_stored, std::uint64_t num_nonzeros) {
  check_padding(name, num_stored, num_nonzeros);
  return checked_size(num_stored);
}

std::uint64_t longest_row(const CsrView<double>& a) {
  std::uint64_t longest = 0;
  for (std::uint64_t row = 0; row < a.num_rows; ++row) longest = std::max(longest, row_length(a, row));
  return longest;
}

}  // namespace tessera
