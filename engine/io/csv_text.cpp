#include "engine/io/csv_text.hpp"

namespace tessera {
namespace {

bool is_trimmed_space(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

bool needs_quotes(std::string_view text, char delimiter) {
  if (text.empty() || is_trimmed_space(text.front()) || is_trimmed_space(text.back())) return true;
  if (text.front() == '#' || text.front() == '%' || text.starts_with("//")) return true;
  for (const char c : text)
    if (c == delimiter || c == '"' || c == '\n' || c == '\r') return true;
  return text.starts_with("\xEF\xBB\xBF");  // else taken for a byte-order mark
}

}  // namespace

void append_field(std::string& out, std::string_view text, char delimiter) {
  if (!needs_quotes(text, delimiter)) {
    out.append(text);
    return;
  }
  out.push_back('"');
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

}  // namespace tessera
