#include "kernels/base/error.hpp"

#include <system_error>

#include "kernels/base/types.hpp"

namespace tessera {

std::string system_error_text(int error_number) { return std::generic_category().message(error_number); }

std::uint64_t checked_mul(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw ResourceError("a size does not fit 64 bits");
  return result;
}

std::uint64_t checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw ResourceError("a size does not fit 64 bits");
  return result;
}

}  // namespace tessera
