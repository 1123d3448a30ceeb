// Weights as text: plain decimal numbers, whatever the locale.
#pragma once
#include <string_view>

namespace tessera {

enum class Sign { not_negative, any };

/// Reads all of `text` as a finite decimal number; a leading + is fine, "nan", "inf", "0x10", "1,5" and
/// what overflows are not. Returns false when it is none, or is negative where that is not allowed.
bool parse_decimal(std::string_view text, Sign sign, double& value);

}  // namespace tessera
