// Characters of UTF-8: every sequence of one to three bytes, and of four by what their lead allows.
#include "engine/io/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tessera {
namespace {

/// By the table of RFC 3629.
std::string encoded(std::uint32_t c) {
  const auto tail = [](std::uint32_t bits) { return static_cast<char>(0x80 | (bits & 0x3F)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), tail(c)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | c >> 12), tail(c >> 6), tail(c)};
  return {static_cast<char>(0xF0 | c >> 18), tail(c >> 12), tail(c >> 6), tail(c)};
}

TEST(Utf8, ReadsEveryCodePointButSurrogates) {
  for (std::uint32_t c = 0; c <= 0x10FFFF; ++c) {
    const std::string bytes = encoded(c);
    const Utf8Character character = first_utf8_character(bytes + "\x80");  // what follows does not count
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    ASSERT_EQ(character.valid, !surrogate) << c;
    if (surrogate) continue;
    ASSERT_EQ(character.code_point, c);
    ASSERT_EQ(character.num_bytes, bytes.size()) << c;
  }
}

/// Sequences of `length` bytes that are one character: with the test above, none is read that is not
/// somebody's encoding.
std::uint64_t count_characters_of(unsigned length, std::uint32_t first_lead) {
  std::uint64_t valid = 0;
  std::string text(length, '\0');
  for (std::uint32_t bits = first_lead << 8 * (length - 1); bits >> 8 * (length - 1) < 0x100; ++bits) {
    for (unsigned i = 0; i < length; ++i) text[i] = static_cast<char>(bits >> 8 * (length - 1 - i));
    const Utf8Character character = first_utf8_character(text);
    valid += character.valid && character.num_bytes == length;
    if (!character.valid) {
      EXPECT_EQ(character.num_bytes, 1u);
    }
  }
  return valid;
}

TEST(Utf8, ReadsNothingElse) {
  EXPECT_EQ(count_characters_of(1, 0), 0x80u);
  EXPECT_EQ(count_characters_of(2, 0), 0x800u - 0x80u);
  EXPECT_EQ(count_characters_of(3, 0xC0), 0x10000u - 0x800u - 0x800u);
}

TEST(Utf8, RefusesFourBytesBeyondUnicodeAndOverlongOnes) {
  EXPECT_FALSE(first_utf8_character("\xF0\x8F\xBF\xBF").valid);  // U+FFFF in four bytes
  EXPECT_FALSE(first_utf8_character("\xF4\x90\x80\x80").valid);  // U+110000
  EXPECT_FALSE(first_utf8_character("\xF5\x80\x80\x80").valid);
}

TEST(Utf8, RefusesCharactersThatEndTooSoon) {
  for (const char* text : {"\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xE2"}) {
    EXPECT_FALSE(first_utf8_character(text).valid);
    EXPECT_EQ(first_utf8_character(text).num_bytes, 1u);
  }
}

}  // namespace
}  // namespace tessera
