#include "engine/io/weight_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace tessera {

namespace {

// from_chars reports overflow and underflow alike; the decimal exponent of the first digit tells them apart.
bool is_tiny(std::string_view text) {
  long exponent = 0;
  const std::size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view digits = text.substr(e + 1);
    if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (parsed.ec == std::errc::result_out_of_range) return digits[0] == '-';
  }
  const std::string_view mantissa = text.substr(0, e);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const long place = first < point ? static_cast<long>(point - first) : -static_cast<long>(first - point);
  return exponent < -place;
}

}  // namespace

bool parse_decimal(std::string_view text, Sign sign, double& value) {
  std::string_view digits = text;
  if (!digits.empty() && (digits[0] == '+' || digits[0] == '-')) digits.remove_prefix(1);
  if (digits.empty() || !((digits[0] >= '0' && digits[0] <= '9') || digits[0] == '.')) return false;
  double magnitude = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  if (end != digits.data() + digits.size()) return false;
  if (error == std::errc::result_out_of_range) {
    if (!is_tiny(digits)) return false;
    magnitude = 0;
  } else if (error != std::errc()) {
    return false;
  }
  if (text[0] == '-' && magnitude != 0 && sign == Sign::not_negative) return false;
  value = text[0] == '-' && magnitude != 0 ? -magnitude : magnitude;
  return std::isfinite(value);
}

}  // namespace tessera
