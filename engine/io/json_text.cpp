#include "engine/io/json_text.hpp"

#include "engine/io/utf8.hpp"

namespace tessera {
namespace {

void append_escaped(std::string& out, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(c);
  if (c == '"' || c == '\\') {
    out.append({'\\', c});
  } else if (c == '\n') {
    out.append("\\n");
  } else if (c == '\t') {
    out.append("\\t");
  } else if (value < 0x20 || value == 0x7F) {
    out.append({'\\', 'u', '0', '0', kHex[value >> 4], kHex[value & 15]});
  } else {
    out.push_back(c);
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  while (!text.empty()) {
    const Utf8Character character = first_utf8_character(text);
    if (!character.valid) {
      out.append("\xEF\xBF\xBD");  // U+FFFD
    } else if (character.num_bytes == 1) {
      append_escaped(out, text.front());
    } else {
      out.append(text.substr(0, character.num_bytes));
    }
    text.remove_prefix(character.num_bytes);
  }
  out.push_back('"');
}

}  // namespace tessera
