// Numbers as text, without locale: integers, and doubles with the fewest digits that read back the same.
// Used by every text writer.
#pragma once
#include <charconv>
#include <cstdint>
#include <string>

namespace tessera {

inline void append_number(std::string& out, std::uint64_t value) {
  char digits[20];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

inline void append_number(std::string& out, double value) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

/// At most `significant_digits` (up to 17), for people.
inline void append_rounded(std::string& out, double value, int significant_digits) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general,
                                   significant_digits)
                         .ptr);
}

}  // namespace tessera
