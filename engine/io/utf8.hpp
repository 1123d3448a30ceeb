// Walks over bytes that may or may not be UTF-8. Used where labels must become valid text.
#pragma once
#include <cstdint>
#include <string_view>

namespace tessera {

struct Utf8Character {
  std::uint32_t code_point = 0;  ///< meaningless when not valid
  unsigned num_bytes = 1;        ///< 1 when not valid: the byte to skip or escape
  bool valid = false;
};

/// The first character of `text`, which must not be empty. Overlong forms, surrogates and values above
/// U+10FFFF are not valid.
Utf8Character first_utf8_character(std::string_view text);

}  // namespace tessera
