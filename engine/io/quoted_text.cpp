#include "engine/io/quoted_text.hpp"

#include <fmt/format.h>

namespace tessera {

std::string quoted_text(std::string_view text) {
  constexpr std::size_t kMaxBytes = 60;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMaxBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      quoted += fmt::format("\\x{:02x}", byte);
    else
      quoted += c;
  }
  return quoted + (text.size() > kMaxBytes ? "...\"" : "\"");
}

}  // namespace tessera
