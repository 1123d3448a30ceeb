// Pieces of files in error messages.
#include "engine/io/quoted_text.hpp"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(QuotedText, EscapesControlBytes) {
  EXPECT_EQ(quoted_text(""), "\"\"");
  EXPECT_EQ(quoted_text("a b\xC3\xA4"), "\"a b\xC3\xA4\"");
  EXPECT_EQ(quoted_text(std::string_view("\0\t\x1b[31m\x7f", 8)), "\"\\x00\\x09\\x1b[31m\\x7f\"");
}

TEST(QuotedText, CutsWhatIsLong) {
  EXPECT_EQ(quoted_text(std::string(60, 'x')), "\"" + std::string(60, 'x') + "\"");
  EXPECT_EQ(quoted_text(std::string(61, 'x')), "\"" + std::string(60, 'x') + "...\"");
}

}  // namespace
}  // namespace tessera
