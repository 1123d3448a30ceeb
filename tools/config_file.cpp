#include "tools/config_file.hpp"

#include <fmt/format.h>

#include "kernels/base/error.hpp"

namespace tessera::cli {
namespace {

constexpr const char* kBlanks = " \t\r";

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

bool is_quoted(const std::string& value) {
  return value.size() >= 2 && value.front() == '"' && value.back() == '"';
}

std::string unquoted(const std::string& value, const std::string& place) {
  std::string result;
  for (std::size_t i = 1; i + 1 < value.size(); ++i) {
    if (value[i] != '\\') {
      result += value[i];
      continue;
    }
    const char escaped = i + 2 < value.size() ? value[++i] : '\0';
    switch (escaped) {
      case 'n':
        result += '\n';
        break;
      case 't':
        result += '\t';
        break;
      case '"':
      case '\\':
        result += escaped;
        break;
      default:
        throw OptionError(place + "expected one of \\n \\t \\\" \\\\ in the quoted value " + value);
    }
  }
  return result;
}

}  // namespace

std::vector<ConfigEntry> parse_config(const std::string& text, const std::string& name) {
  std::vector<ConfigEntry> entries;
  std::string section;
  std::uint64_t line_number = 0, section_line = 0;
  std::size_t start = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = trimmed(std::string_view(text).substr(start, end - start));
    start = end + 1;
    const std::string place = fmt::format("{}:{}: ", name, ++line_number);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      section = trimmed(std::string_view(line).substr(1, line.size() - 2));
      if (section.empty()) throw OptionError(place + "expected the name of a command between [ and ]");
      section_line = line_number;
      continue;
    }
    const std::size_t equals = line.find('=');
    const std::string key = trimmed(std::string_view(line).substr(0, equals));
    if (equals == std::string::npos || key.empty())
      throw OptionError(
          fmt::format("{}expected \"option = value\" or \"[command]\", found \"{}\"", place, line));
    std::string value = trimmed(std::string_view(line).substr(equals + 1));
    if (is_quoted(value)) value = unquoted(value, place);
    entries.push_back({section, key, value, line_number, section_line});
  }
  return entries;
}

std::string config_value(const std::string& value) {
  const bool needs_quotes = value.empty() || trimmed(value) != value || value.front() == '"' ||
                            value.find('\n') != std::string::npos;
  if (!needs_quotes) return value;
  std::string result = "\"";
  for (char byte : value) {
    if (byte == '"' || byte == '\\') result += '\\';
    if (byte == '\n')
      result += "\\n";
    else if (byte == '\t')
      result += "\\t";
    else
      result += byte;
  }
  return result + "\"";
}

}  // namespace tessera::cli
