#include "engine/io/terminal_text.hpp"

#include <algorithm>

#include "engine/io/utf8.hpp"

namespace tessera {
namespace {

bool is_harmless(const Utf8Character& character) {
  const std::uint32_t c = character.code_point;
  if (!character.valid || c < 0x20 || (c >= 0x7F && c < 0xA0)) return false;
  const bool direction_mark = c == 0x061C || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
                              (c >= 0x2060 && c <= 0x206F);
  const bool line_break = c == 0x2028 || c == 0x2029;
  return !direction_mark && !line_break && c != 0xFEFF;
}

}  // namespace

std::string escape_for_terminal(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_utf8_character(text);
    const std::string_view bytes = text.substr(0, character.num_bytes);
    if (is_harmless(character)) {
      safe.append(bytes);
    } else {
      for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        safe.append({'\\', 'x', kHex[value >> 4], kHex[value & 15]});
      }
    }
    text.remove_prefix(bytes.size());
  }
  return safe;
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string terminal_cell(std::string_view text, std::size_t max_characters) {
  constexpr std::string_view kMark = "...";
  std::string cell = escape_for_terminal(text.substr(0, 4 * max_characters + 4));
  if (count_characters(cell) <= max_characters) return cell;
  std::size_t kept = 0, end = 0;
  for (; kept + kMark.size() < max_characters; ++kept)
    end += first_utf8_character(std::string_view(cell).substr(end)).num_bytes;
  return cell.substr(0, end).append(kMark);
}

}  // namespace tessera
