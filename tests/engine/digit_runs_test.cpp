#include "engine/io/digit_runs.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace tessera {
namespace {

RC_GTEST_PROP(ReadDigits, ReadsEveryNumberUpTo15DigitsBeforeAnyByte, ()) {
  const int digits = *rc::gen::inRange(1, 16);
  std::uint64_t limit = 1;
  for (int i = 0; i < digits; ++i) limit *= 10;
  const auto number = *rc::gen::inRange<std::uint64_t>(digits == 1 ? 0 : limit / 10, limit);
  char after = *rc::gen::arbitrary<char>();
  if (after >= '0' && after <= '9') after = ' ';
  const std::string rest = *rc::gen::arbitrary<std::string>();
  const std::string text = std::to_string(number) + after + rest + std::string(32, '\xff');
  std::uint64_t value = 0;
  const char* end = read_digits(text.data(), value);
  RC_ASSERT(end == text.data() + digits);
  RC_ASSERT(value == number);
}

TEST(ReadDigits, LeavesWhatIsNotCanonicalOrTooLong) {
  for (const char* text : {"", " 1", "-1", "+1", "00", "01", "012345678", "a", "/", ":", "\x80",
                           "1234567890123456", "12345678901234567890"}) {
    const std::string padded = text + std::string(32, '\0');
    std::uint64_t value = 0;
    EXPECT_EQ(read_digits(padded.data(), value), nullptr) << text;
  }
}

}  // namespace
}  // namespace tessera
