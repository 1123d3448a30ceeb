#include "engine/io/line_fields.hpp"

#include <algorithm>

#include "engine/io/quoted_text.hpp"

namespace tessera {

namespace {

std::string_view trimmed_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

constexpr const char* kTextAfterQuote = "text after a closing quote";

}  // namespace

std::string_view trimmed_line(std::string_view line, char delimiter) {
  const auto removable = [delimiter](char c) { return (is_blank(c) || c == '\r') && c != delimiter; };
  while (!line.empty() && removable(line.back())) line.remove_suffix(1);
  while (!line.empty() && removable(line.front())) line.remove_prefix(1);
  return line;
}

std::string carriage_return_inside(std::string_view line) {
  return "a carriage return inside the line (line ends must be LF or CR LF): " + quoted_text(line);
}

const char* LineFields::split(std::string_view line) {
  fields_.clear();
  const bool has_quotes = line.find('"') != std::string_view::npos;
  if (delimiter_ == 0) {
    if (quotes_ && has_quotes) return split_quoted_at_blanks(line);
    split_at_blanks(line);
    return "";
  }
  if (quotes_ && has_quotes) return split_quoted(line);
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = line.find(delimiter_, begin);
    fields_.push_back(trimmed_blanks(line.substr(begin, end - begin)));
    if (end == std::string_view::npos) return "";
    begin = end + 1;
  }
}

void LineFields::split_at_blanks(std::string_view line) {
  std::size_t i = 0;
  while (i < line.size()) {
    while (i < line.size() && is_blank(line[i])) ++i;
    const std::size_t begin = i;
    while (i < line.size() && !is_blank(line[i])) ++i;
    if (i > begin) fields_.push_back(line.substr(begin, i - begin));
  }
}

bool LineFields::tears_quotes(std::size_t num_columns) const {
  bool is_open = false;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::string_view field = fields_[i];
    if (is_open && field.ends_with('"')) return true;
    const bool opens = field.starts_with('"') && (field.size() == 1 || !field.ends_with('"'));
    is_open = is_open || (opens && i < num_columns);
  }
  return false;
}

const char* LineFields::take_quoted(std::string_view line, std::size_t& i) {
  const std::size_t begin = unescaped_.size();
  for (++i;; ++i) {
    if (i >= line.size()) return "a quote that is not closed on its line";
    if (line[i] == '"' && (i + 1 == line.size() || line[i + 1] != '"')) break;
    if (line[i] == '"') ++i;
    unescaped_ += line[i];
  }
  ++i;
  fields_.push_back(std::string_view(unescaped_).substr(begin));
  return "";
}

const char* LineFields::split_quoted_at_blanks(std::string_view line) {
  unescaped_.clear();
  unescaped_.reserve(line.size());  // never more than the line: the views into it stay valid
  for (std::size_t i = 0;;) {
    while (i < line.size() && is_blank(line[i])) ++i;
    if (i >= line.size()) return "";
    if (line[i] == '"') {
      if (const char* problem = take_quoted(line, i); *problem != 0) return problem;
      if (i < line.size() && !is_blank(line[i])) return kTextAfterQuote;
    } else {
      const std::size_t begin = i;
      while (i < line.size() && !is_blank(line[i])) ++i;
      fields_.push_back(line.substr(begin, i - begin));
    }
  }
}

const char* LineFields::split_quoted(std::string_view line) {
  unescaped_.clear();
  unescaped_.reserve(line.size());
  std::size_t i = 0;
  for (;;) {
    while (i < line.size() && is_blank(line[i]) && line[i] != delimiter_) ++i;
    if (i < line.size() && line[i] == '"') {
      if (const char* problem = take_quoted(line, i); *problem != 0) return problem;
      while (i < line.size() && is_blank(line[i]) && line[i] != delimiter_) ++i;
      if (i < line.size() && line[i] != delimiter_) return kTextAfterQuote;
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
