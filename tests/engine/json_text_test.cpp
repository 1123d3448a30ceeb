// JSON strings of any bytes, read back by a JSON library.
#include "engine/io/json_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

namespace tessera {
namespace {

std::string json_of(std::string_view text) {
  std::string out = "[";
  append_json_string(out, text);
  return out + "]";
}

TEST(JsonText, EscapesAndKeepsTheRest) {
  EXPECT_EQ(json_of(""), "[\"\"]");
  EXPECT_EQ(json_of("a\"b\\c/"), "[\"a\\\"b\\\\c/\"]");
  EXPECT_EQ(json_of("a\n\t\r\x01\x7F"), "[\"a\\n\\t\\u000d\\u0001\\u007f\"]");
  EXPECT_EQ(json_of("\xC3\xA4\xF0\x9F\x98\x80"), "[\"\xC3\xA4\xF0\x9F\x98\x80\"]");
}

TEST(JsonText, ReplacesEachByteThatIsNoText) {
  EXPECT_EQ(json_of("a\xFF\xC3z"), "[\"a\xEF\xBF\xBD\xEF\xBF\xBDz\"]");
  EXPECT_EQ(json_of("\xED\xA0\x80"), "[\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"]");  // a surrogate
}

TEST(JsonText, ReadsBackAllOfAscii) {
  std::string text;
  for (char c = 0; c < 127; ++c) text.push_back(c);
  text.push_back(127);
  EXPECT_EQ(nlohmann::json::parse(json_of(text)).at(0).get<std::string>(), text);
}

RC_GTEST_PROP(JsonText, IsJsonForAnyBytes, (const std::string& text)) {
  std::string bytes = text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) bytes[i] = static_cast<char>(bytes[i] | 0x80);
  RC_ASSERT(nlohmann::json::accept(json_of(bytes)));
}

}  // namespace
}  // namespace tessera
