// Values of options as text: strict parsing with a sentence about what was expected, and the text that
// reads back the same (for --print-config and the report).
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::cli {

/// A count: digits, or a decimal with an exponent (1e6, 2.5e3), or a binary suffix K, M, G, T (64K = 65536).
/// Throws OptionError `expected a whole number from LOW to HIGH, found "..."`.
std::uint64_t parse_count(std::string_view text, std::uint64_t low,
                          std::uint64_t high = std::numeric_limits<std::uint64_t>::max());

/// Interval of finite numbers; `open` ends do not belong to it.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false, high_open = false;
  bool contains(double value) const;
  std::string text() const;  ///< "a number of at least 0 and below 1"
};
/// A finite number in `range`; the whole text must be a number. Throws OptionError.
double parse_number(std::string_view text, const Range& range);
std::string number_text(double value);  ///< shortest digits that read back the same

/// yes/no, true/false, on/off, 1/0. Throws OptionError.
bool parse_yes_no(std::string_view text);

/// One byte between columns: the byte itself, or tab (\t), comma, space, semicolon, or auto (none).
std::optional<char> parse_delimiter(std::string_view text);
std::string delimiter_text(std::optional<char> delimiter);

}  // namespace tessera::cli
