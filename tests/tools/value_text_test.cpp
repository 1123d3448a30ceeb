// Values of options as text.
#include "tools/value_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "kernels/base/error.hpp"

namespace tessera::cli {
namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();

TEST(ParseCount, AcceptsExponentsAndBinarySuffixes) {
  EXPECT_EQ(parse_count("1e6", 0, kAny), 1000000u);
  EXPECT_EQ(parse_count("2.5E3", 0, kAny), 2500u);
  EXPECT_EQ(parse_count("64K", 0, kAny), 65536u);
  EXPECT_EQ(parse_count("3T", 0, kAny), 3u * (std::uint64_t{1} << 40));
  EXPECT_EQ(parse_count("18446744073709551615", 0, kAny), kAny);
}

TEST(ParseCount, RefusesWhatIsNoWholeNumberInRange) {
  for (const char* text : {"", " ", "-1", "+1", "1.5", "1e-1", "1e30", "K", "1KK", "1k ", "0x10", "nan",
                           "1_000", "18446744073709551616", "18446744073709551615K"})
    EXPECT_THROW(parse_count(text, 0, kAny), OptionError) << text;
  EXPECT_THROW(parse_count("5", 6, 7), OptionError);
  EXPECT_THROW(parse_count("8", 6, 7), OptionError);
}

TEST(ParseNumber, EndsBelongToTheRangeUnlessOpen) {
  const Range range{.low = 0, .high = 1, .high_open = true};
  EXPECT_EQ(parse_number("0", range), 0.0);
  EXPECT_EQ(parse_number("+0.5", range), 0.5);
  EXPECT_THROW(parse_number("1", range), OptionError);
  for (const char* text : {"nan", "inf", "-1", "1e999", "0,5", "0.5x", "", "+", "++1"})
    EXPECT_THROW(parse_number(text, range), OptionError) << text;
}

RC_GTEST_PROP(NumberText, ReadsBackTheSame, (double value)) {
  RC_PRE(std::isfinite(value));
  RC_ASSERT(parse_number(number_text(value), Range{}) == value);
}

TEST(ParseDelimiter, KnowsNamesAndSingleBytes) {
  EXPECT_EQ(parse_delimiter("\\t"), '\t');
  EXPECT_EQ(parse_delimiter("space"), ' ');
  EXPECT_EQ(parse_delimiter("|"), '|');
  EXPECT_EQ(parse_delimiter("auto"), std::nullopt);
  for (const char* text : {"", "||", "\n", "\"", "tabs"})
    EXPECT_THROW(parse_delimiter(text), OptionError) << text;
  for (const char* text : {"auto", "tab", "comma", "space", "semicolon", "|"})
    EXPECT_EQ(delimiter_text(parse_delimiter(text)), text);
}

}  // namespace
}  // namespace tessera::cli
