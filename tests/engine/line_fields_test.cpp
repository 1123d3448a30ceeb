#include "engine/io/line_fields.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tessera {
namespace {

std::vector<std::string> split(std::string_view line, char delimiter, bool quotes) {
  LineFields fields(delimiter, quotes);
  if (const char* problem = fields.split(line); *problem != 0) return {"!", problem};
  std::vector<std::string> result;
  for (std::size_t i = 0; i < fields.size(); ++i) result.emplace_back(fields[i]);
  return result;
}
using Fields = std::vector<std::string>;

TEST(LineFields, SplitsByBlanksOrDelimiter) {
  EXPECT_EQ(split("a  b\tc", 0, false), (Fields{"a", "b", "c"}));
  EXPECT_EQ(split("a , b,,c", ',', false), (Fields{"a", "b", "", "c"}));
  EXPECT_EQ(split("a b\t\tc", '\t', true), (Fields{"a b", "", "c"}));
  EXPECT_EQ(split("\"a\" b", 0, false), (Fields{"\"a\"", "b"}));
  EXPECT_EQ(split("\"a,b\",c", ',', false), (Fields{"\"a", "b\"", "c"}));
}

TEST(LineFields, QuotesHoldBlanks) {
  EXPECT_EQ(split("\"a x\"  b\t\"c \"\"d\"\"\" \"\"", 0, true), (Fields{"a x", "b", "c \"d\"", ""}));
  EXPECT_EQ(split("5\"x y", 0, true), (Fields{"5\"x", "y"}));
  EXPECT_EQ(split("\"a x b", 0, true), (Fields{"!", "a quote that is not closed on its line"}));
  EXPECT_EQ(split("\"a\"x b", 0, true)[0], "!");
}

TEST(LineFields, KnowsTextsInQuotesThatBlanksHaveCut) {
  const auto tears = [](std::string_view line, std::size_t num_columns) {
    LineFields fields(0, false);
    EXPECT_EQ(std::string(fields.split(line)), "");
    return fields.tears_quotes(num_columns);
  };
  for (const char* line : {"\"a x\" b", "b \"a x\"", "\" a\" b", "\"a x y\" b"})
    EXPECT_TRUE(tears(line, 2)) << line;
  EXPECT_FALSE(tears("\"a b", 2));
  EXPECT_FALSE(tears("5\" b\"", 2));
  EXPECT_FALSE(tears("\"a\" \"b\"", 2));
  EXPECT_FALSE(tears("a b \"some text\"", 2));  // not where it matters
  EXPECT_TRUE(tears("a b \"some text\"", 3));
}

TEST(LineFields, TrimsLineEndsButNotTabsThatDelimit) {
  EXPECT_EQ(trimmed_line(" \ta b \t\r", 0), "a b");
  EXPECT_EQ(trimmed_line("\ta\t\r", '\t'), "\ta\t");
  EXPECT_EQ(trimmed_line(" \r", ','), "");
}

TEST(LineFields, KnowsComments) {
  for (const char* line : {"#", "% x", "//x"}) EXPECT_TRUE(is_comment(line));
  for (const char* line : {"", "/x", "1#", "a//"}) EXPECT_FALSE(is_comment(line));
}

RC_GTEST_PROP(LineFields, GivesBackAnythingThatWasQuoted, (const std::vector<std::string>& texts)) {
  RC_PRE(!texts.empty());
  std::string line;
  for (const std::string& text : texts) {
    if (!line.empty()) line += ',';
    line += '"';
    for (const char c : text) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  RC_ASSERT(split(line, ',', true) == texts);
}

}  // namespace
}  // namespace tessera
