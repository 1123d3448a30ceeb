// Decimal digits eight at a time: bytes as lanes of one 64-bit word, combined by three multiplications.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

namespace tessera {

static_assert(std::endian::native == std::endian::little, "digit_runs.hpp reads text as little-endian words");

/// Reads the digits at `p` (16 bytes must be readable) as a canonical number of 1 to 15 digits. Returns the
/// first byte after them, or nullptr when there is no such number.
inline const char* read_digits(const char* p, std::uint64_t& value) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  const auto load = [](const char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    return word ^ (kOnes * '0');  // digits become 0..9
  };
  // The high bit of each byte above 9. A carry of a byte >= 0x8a can only reach bytes after the first of
  // them.
  const auto others = [](std::uint64_t word) { return ((word + kOnes * 0x76) | word) & (kOnes * 0x80); };
  const auto combined = [](std::uint64_t word) {
    word = word * 10 + (word >> 8);
    return (((word & 0x000000FF000000FFu) * 0x000F424000000064u) +
            (((word >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u)) >>
           32;
  };
  const std::uint64_t word = load(p);
  const std::uint64_t stop = others(word);
  if (stop == 0) [[unlikely]] {
    constexpr std::uint64_t kPowers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const std::uint64_t next = load(p + 8);
    const std::uint64_t next_stop = others(next);
    if (next_stop == 0 || *p == '0') return nullptr;
    const int bits = std::countr_zero(next_stop) & ~7;
    const std::uint64_t low = bits == 0 ? 0 : combined(next << (64 - bits));
    value = combined(word) * kPowers[bits / 8] + low;
    return p + 8 + bits / 8;
  }
  const int bits = std::countr_zero(stop) & ~7;
  if (bits == 0 || (*p == '0' && bits > 8)) [[unlikely]]
    return nullptr;
  value = combined(word << (64 - bits));
  return p + bits / 8;
}

}  // namespace tessera
