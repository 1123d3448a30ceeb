#include "engine/io/line_fields.hpp"

#include <algorithm>

namespace tessera {

namespace {

std::string_view trimmed_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view trimmed_line(std::string_view line, char delimiter) {
  const auto removable = [delimiter](char c) { return (is_blank(c) || c == '\r') && c != delimiter; };
  while (!line.empty() && removable(line.back())) line.remove_suffix(1);
  while (!line.empty() && removable(line.front())) line.remove_prefix(1);
  return line;
}

const char* LineFields::split(std::string_view line) {
  fields_.clear();
  if (delimiter_ == 0) {
    std::size_t i = 0;
    while (i < line.size()) {
      while (i < line.size() && is_blank(line[i])) ++i;
      const std::size_t begin = i;
      while (i < line.size() && !is_blank(line[i])) ++i;
      if (i > begin) fields_.push_back(line.substr(begin, i - begin));
    }
    return "";
  }
  if (quotes_ && line.find('"') != std::string_view::npos) return split_quoted(line);
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = line.find(delimiter_, begin);
    fields_.push_back(trimmed_blanks(line.substr(begin, end - begin)));
    if (end == std::string_view::npos) return "";
    begin = end + 1;
  }
}

const char* LineFields::split_quoted(std::string_view line) {
  unescaped_.clear();
  unescaped_.reserve(line.size());  // never more than the line: the views into it stay valid
  std::size_t i = 0;
  for (;;) {
    while (i < line.size() && is_blank(line[i]) && line[i] != delimiter_) ++i;
    if (i < line.size() && line[i] == '"') {
      const std::size_t begin = unescaped_.size();
      for (++i;; ++i) {
        if (i >= line.size()) return "a quote that is not closed on its line";
        if (line[i] == '"' && (i + 1 == line.size() || line[i + 1] != '"')) break;
        if (line[i] == '"') ++i;
        unescaped_ += line[i];
      }
      ++i;
      while (i < line.size() && is_blank(line[i]) && line[i] != delimiter_) ++i;
      if (i < line.size() && line[i] != delimiter_) return "text after a closing quote";
      fields_.push_back(std::string_view(unescaped_).substr(begin));
    } else {
      const std::size_t end = std::min(line.find(delimiter_, i), line.size());
      fields_.push_back(trimmed_blanks(line.substr(i, end - i)));
      i = end;
    }
    if (i >= line.size()) return "";
    ++i;
  }
}

}  // namespace tessera
