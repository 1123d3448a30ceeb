#include "engine/io/npy_header.hpp"

#include <bit>

namespace tessera {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

std::string npy_header_float64(std::span<const std::uint64_t> shape) {
  std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (";
  for (const std::uint64_t extent : shape) dictionary += std::to_string(extent) + ", ";
  dictionary += "), }";
  constexpr std::size_t kPreamble = 10, kAlignment = 64;
  while ((kPreamble + dictionary.size() + 1) % kAlignment != 0) dictionary.push_back(' ');
  dictionary.push_back('\n');
  std::string header("\x93NUMPY\x01\x00", 8);
  header.push_back(static_cast<char>(dictionary.size() & 0xFF));
  header.push_back(static_cast<char>(dictionary.size() >> 8));
  return header + dictionary;
}

}  // namespace tessera
