#include "engine/io/weight_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <charconv>
#include <cmath>
#include <string>

namespace tessera {
namespace {

TEST(ParseDecimal, TakesPlainNumbersOnly) {
  double value = 7;
  for (const char* text :
       {"", "+", "-", ".", "nan", "inf", "-inf", "infinity", "0x10", "1,5", "1e400", "1e9223372036854775807",
        "1e", "1.5x", " 1", "1 ", "++1", "1e99999999999999999999"})
    EXPECT_FALSE(parse_decimal(text, Sign::any, value)) << text;
  EXPECT_EQ(value, 7);
  EXPECT_FALSE(parse_decimal("-1", Sign::not_negative, value));
  EXPECT_FALSE(parse_decimal("-1e-5", Sign::not_negative, value));
  EXPECT_TRUE(parse_decimal("-1", Sign::any, value));
  EXPECT_EQ(value, -1);
  EXPECT_TRUE(parse_decimal("+.5", Sign::not_negative, value));
  EXPECT_EQ(value, 0.5);
}

TEST(ParseDecimal, TinyNumbersAreZeroAndZeroHasNoSign) {
  for (const char* text :
       {"1e-400", "0.0000001e-999", "1e-99999999999999999999", "0.1e-9223372036854775808", "-0", "0e999"}) {
    double value = 7;
    EXPECT_TRUE(parse_decimal(text, Sign::not_negative, value)) << text;
    EXPECT_EQ(value, 0);
    EXPECT_FALSE(std::signbit(value));
  }
}

RC_GTEST_PROP(ParseDecimal, ReadsBackWhatToCharsWrites, (double number)) {
  char text[64];
  const std::string_view written(text, std::to_chars(text, text + sizeof text, number).ptr - text);
  double value = 0;
  RC_ASSERT(parse_decimal(written, Sign::any, value));
  RC_ASSERT(value == number);
}

}  // namespace
}  // namespace tessera
