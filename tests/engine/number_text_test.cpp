// Numbers as text.
#include "engine/io/number_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace tessera {
namespace {

std::string text_of(double value) {
  std::string text;
  append_number(text, value);
  return text;
}

std::string rounded(double value, int digits) {
  std::string text;
  append_rounded(text, value, digits);
  return text;
}

TEST(NumberText, WritesIntegersWhole) {
  std::string text = "x";
  append_number(text, std::uint64_t{0});
  append_number(text, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(text, "x018446744073709551615");
}

TEST(NumberText, WritesDoublesInTheFewestDigits) {
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(1), "1");
  EXPECT_EQ(text_of(-0.0), "-0");
  EXPECT_EQ(text_of(1e300), "1e+300");
  EXPECT_EQ(text_of(0.1 + 0.2), "0.30000000000000004");
}

TEST(NumberText, RoundsForPeople) {
  EXPECT_EQ(rounded(2.0 / 3, 6), "0.666667");
  EXPECT_EQ(rounded(1234567, 3), "1.23e+06");
  EXPECT_EQ(rounded(0.1, 17), "0.10000000000000001");
  EXPECT_EQ(rounded(-std::numeric_limits<double>::denorm_min(), 17), "-4.9406564584124654e-324");
}

RC_GTEST_PROP(NumberText, DoublesReadBackTheSame, (std::uint64_t bits)) {
  const auto value = std::bit_cast<double>(bits);
  RC_PRE(std::isfinite(value));
  RC_ASSERT(std::bit_cast<std::uint64_t>(std::strtod(text_of(value).c_str(), nullptr)) == bits);
}

}  // namespace
}  // namespace tessera
