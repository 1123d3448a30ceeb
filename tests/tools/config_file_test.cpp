// INI files.
#include "tools/config_file.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernels/base/error.hpp"

namespace tessera::cli {
namespace {

TEST(ParseConfig, ReadsSectionsKeysAndLines) {
  const auto entries = parse_config("\xEF\xBB\xBFtop = 3\r\n\n# c\n[pagerank]\n output= a#b ; c\n", "f.ini");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].section, "");
  EXPECT_EQ(entries[0].key, "top");
  EXPECT_EQ(entries[0].value, "3");
  EXPECT_EQ(entries[0].line, 1u);
  EXPECT_EQ(entries[1].section, "pagerank");
  EXPECT_EQ(entries[1].value, "a#b ; c");
  EXPECT_EQ(entries[1].line, 5u);
}

TEST(ParseConfig, RefusesOtherLinesWithTheirPlace) {
  for (const char* text : {"top", "= 3", "[pagerank", "[ ]", "key = \"\\x\""}) {
    try {
      parse_config(std::string("a = b\n") + text, "f.ini");
      ADD_FAILURE() << text;
    } catch (const OptionError& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 9), "f.ini:2: ") << text;
    }
  }
}

RC_GTEST_PROP(ConfigValue, ReadsBackTheSame, (const std::string& value)) {
  const auto entries = parse_config("key = " + config_value(value) + "\n", "f.ini");
  RC_ASSERT(entries.size() == 1u);
  RC_ASSERT(entries[0].value == value);
}

TEST(ConfigValue, QuotesOnlyWhereNeeded) {
  EXPECT_EQ(config_value("a # b.tsv"), "a # b.tsv");
  EXPECT_EQ(config_value(" a"), "\" a\"");
  EXPECT_EQ(config_value("\"a\""), "\"\\\"a\\\"\"");
  EXPECT_EQ(config_value("a\nb"), "\"a\\nb\"");
}

}  // namespace
}  // namespace tessera::cli
