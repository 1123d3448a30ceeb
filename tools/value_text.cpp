#include "tools/value_text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/lower_case.hpp"
#include "kernels/base/error.hpp"
#include "tools/nearest_name.hpp"

namespace tessera::cli {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 5> kDelimiterNames{
    {{"tab", '\t'}, {"\\t", '\t'}, {"comma", ','}, {"space", ' '}, {"semicolon", ';'}}};

template <class T>
bool parse_all(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

int suffix_shift(std::string_view text) {
  const auto position = std::string_view("KMGT").find(text.empty() ? ' ' : text.back());
  return position == std::string_view::npos ? 0 : 10 * (static_cast<int>(position) + 1);
}

/// 1e6 and the like: exact, because every whole number below 2^53 is a double.
bool parse_with_exponent(std::string_view text, std::uint64_t& value) {
  double number = 0;
  if (text.find_first_of("eE") == std::string_view::npos || !parse_all(text, number)) return false;
  if (!(number >= 0) || number >= 9007199254740992.0 || number != std::floor(number)) return false;
  value = static_cast<std::uint64_t>(number);
  return true;
}

bool parse_plain_count(std::string_view text, std::uint64_t& value) {
  const int shift = suffix_shift(text);
  if (shift == 0) return parse_all(text, value) || parse_with_exponent(text, value);
  text.remove_suffix(1);
  if (!parse_all(text, value) || value > (std::numeric_limits<std::uint64_t>::max() >> shift)) return false;
  value <<= shift;
  return true;
}

}  // namespace

std::uint64_t parse_count(std::string_view text, std::uint64_t low, std::uint64_t high) {
  std::uint64_t value = 0;
  if (parse_plain_count(text, value) && value >= low && value <= high) return value;
  if (high == std::numeric_limits<std::uint64_t>::max())
    throw OptionError(fmt::format("expected a whole number of at least {}, found \"{}\"", low, text));
  throw OptionError(fmt::format("expected a whole number from {} to {}, found \"{}\"", low, high, text));
}

bool Range::contains(double value) const {
  return std::isfinite(value) && (low_open ? value > low : value >= low) &&
         (high_open ? value < high : value <= high);
}

std::string Range::text() const {
  std::string text = "a number";
  if (std::isfinite(low)) text += fmt::format(" {} {}", low_open ? "above" : "of at least", low);
  if (std::isfinite(low) && std::isfinite(high)) text += " and";
  if (std::isfinite(high)) text += fmt::format(" {} {}", high_open ? "below" : "at most", high);
  return text;
}

double parse_number(std::string_view text, const Range& range) {
  double value = 0;
  const bool is_number = parse_all(text.starts_with('+') ? text.substr(1) : text, value);
  if (!is_number || !range.contains(value))
    throw OptionError(fmt::format("expected {}, found \"{}\"", range.text(), text));
  return value;
}

std::string number_text(double value) { return fmt::format("{}", value); }

bool parse_yes_no(std::string_view text) {
  for (std::string_view yes : {"yes", "true", "on", "1"})
    if (text == yes) return true;
  for (std::string_view no : {"no", "false", "off", "0"})
    if (text == no) return false;
  throw OptionError(fmt::format("expected yes or no, found \"{}\"", text));
}

std::optional<char> parse_delimiter(std::string_view text) {
  if (text == "auto") return std::nullopt;
  for (const auto& [name, byte] : kDelimiterNames)
    if (text == name) return byte;
  if (text.size() == 1 && text != "\n" && text != "\r" && text != "\"") return text[0];
  const std::vector<std::string> names{"tab", "comma", "space", "semicolon", "auto"};
  throw OptionError(fmt::format("expected one byte, or tab, comma, space, semicolon or auto, found \"{}\"{}",
                                text, did_you_mean(lower_case(text), names)));
}

std::string delimiter_text(std::optional<char> delimiter) {
  if (!delimiter) return "auto";
  for (const auto& [name, byte] : kDelimiterNames)
    if (*delimiter == byte) return std::string(name);
  return std::string(1, *delimiter);
}

}  // namespace tessera::cli
