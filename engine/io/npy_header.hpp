// The header of a NumPy array file, version 1.0: magic, length, a dictionary as text, padded to 64 bytes.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace tessera {

/// Header of a row-major array of little-endian float64.
std::string npy_header_float64(std::span<const std::uint64_t> shape);

}  // namespace tessera
