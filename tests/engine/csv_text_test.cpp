// Fields of tsv and csv, read back by the rules of RFC 4180.
#include "engine/io/csv_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tessera {
namespace {

std::string field(std::string_view text, char delimiter = ',') {
  std::string out;
  append_field(out, text, delimiter);
  return out;
}

/// The first field of a line; where its text ends goes to `end`.
std::string read_field(std::string_view line, char delimiter, std::size_t& end) {
  std::string text;
  if (!line.starts_with('"')) {
    end = std::min(line.find(delimiter), line.size());
    return std::string(line.substr(0, end));
  }
  for (end = 1; end < line.size(); ++end) {
    if (line[end] == '"' && line.substr(end, 2) != "\"\"") break;
    if (line[end] == '"') ++end;
    text.push_back(line[end]);
  }
  ++end;
  return text;
}

TEST(CsvText, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(field("a b"), "a b");
  EXPECT_EQ(field("=1+1"), "=1+1");
  EXPECT_EQ(field("a#b"), "a#b");
  EXPECT_EQ(field("a/b"), "a/b");
  EXPECT_EQ(field("a,b"), "\"a,b\"");
  EXPECT_EQ(field("a,b", '\t'), "a,b");
  EXPECT_EQ(field("a\tb", '\t'), "\"a\tb\"");
  EXPECT_EQ(field("say \"a\""), "\"say \"\"a\"\"\"");
  EXPECT_EQ(field("a\nb"), "\"a\nb\"");
  EXPECT_EQ(field("a\rb"), "\"a\rb\"");
}

TEST(CsvText, QuotesWhatAReaderTakesForSomethingElse) {
  for (const char* text : {"", " a", "a ", "\ta", "#a", "%", "//a", "\xEF\xBB\xBFnode"})
    EXPECT_EQ(field(text), "\"" + std::string(text) + "\"");
}

RC_GTEST_PROP(CsvText, ReadsBackTheSame, (const std::string& name, bool tab)) {
  // Letters alone seldom need quotes.
  std::string text = name;
  for (std::size_t i = 0; i < text.size(); i += 2)
    text[i] = ",\"\n\t \r#"[static_cast<unsigned char>(text[i]) % 7];
  const char delimiter = tab ? '\t' : ',';
  std::size_t end = 0;
  const std::string line = field(text, delimiter) + delimiter + "1";
  RC_ASSERT(read_field(line, delimiter, end) == text);
  RC_ASSERT(line.substr(end) == std::string(1, delimiter) + "1");
}

}  // namespace
}  // namespace tessera
