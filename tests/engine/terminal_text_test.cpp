// Text from outside on a terminal.
#include "engine/io/terminal_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tessera {
namespace {

TEST(TerminalText, KeepsLettersOfAllScripts) {
  const std::string text = "a\xC3\xA4\xE4\xB8\xAD\xF0\x9F\x98\x80 ~";
  EXPECT_EQ(escape_for_terminal(text), text);
  EXPECT_EQ(count_characters(text), 6u);
}

TEST(TerminalText, ShowsTheBytesOfWhatMovesOrHides) {
  EXPECT_EQ(escape_for_terminal("a\x1b[2Jb\r\n\t\x7f"), "a\\x1b[2Jb\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(escape_for_terminal("\xC2\x9B"), "\\xc2\\x9b");           // C1: CSI
  EXPECT_EQ(escape_for_terminal("\xE2\x80\xAE"), "\\xe2\\x80\\xae");  // right-to-left override
  EXPECT_EQ(escape_for_terminal("\xE2\x80\x8B"), "\\xe2\\x80\\x8b");  // no width
  EXPECT_EQ(escape_for_terminal("\xE2\x80\xA8"), "\\xe2\\x80\\xa8");  // line separator
  EXPECT_EQ(escape_for_terminal("\xC0\x80"), "\\xc0\\x80");           // overlong
  EXPECT_EQ(escape_for_terminal(std::string(1, '\0')), "\\x00");
  EXPECT_EQ(escape_for_terminal("\xFF\xC3z"), "\\xff\\xc3z");  // no UTF-8
}

TEST(TerminalText, CutsCells) {
  EXPECT_EQ(terminal_cell("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(terminal_cell("abcdefghi", 8), "abcde...");
  EXPECT_EQ(terminal_cell("\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", 4), "\xC3\xA4...");
  EXPECT_EQ(terminal_cell("", 8), "");
}

RC_GTEST_PROP(TerminalText, CellsFitAndHoldNoControlBytes, (const std::string& text)) {
  std::string bytes = text;
  for (std::size_t i = 0; i < bytes.size(); i += 2) bytes[i] = static_cast<char>(bytes[i] * 37);
  const std::size_t width = 3 + bytes.size() / 2;
  const std::string cell = terminal_cell(bytes, width);
  RC_ASSERT(count_characters(cell) <= width);
  for (const char c : cell) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  RC_ASSERT(escape_for_terminal(cell) == cell);
}

}  // namespace
}  // namespace tessera
