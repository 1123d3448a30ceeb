// One line of text into fields: by white space, or by a delimiter with or without RFC 4180 quotes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
/// Whether a line, leading blanks removed, is a comment.
inline bool is_comment(std::string_view line) {
  return !line.empty() && (line[0] == '#' || line[0] == '%' || (line[0] == '/' && line.substr(0, 2) == "//"));
}
/// Without blanks and the carriage return at both ends; tabs stay where they are the delimiter.
std::string_view trimmed_line(std::string_view line, char delimiter);

/// What is wrong with a trimmed line that has a carriage return.
std::string carriage_return_inside(std::string_view line);

class LineFields {
 public:
  /// `delimiter` 0 splits at runs of blanks and tabs. Unquoted fields lose blanks at both ends. Without
  /// `quotes` quotes are letters as others.
  LineFields(char delimiter, bool quotes) : delimiter_(delimiter), quotes_(quotes) {}

  /// Splits a trimmed line. Returns an empty text or what is wrong with its quotes.
  const char* split(std::string_view line);
  std::size_t size() const { return fields_.size(); }
  /// Whether a split at blanks has cut a text in quotes that begins in one of the first columns.
  bool tears_quotes(std::size_t num_columns) const;
  /// Valid until the next split and as long as the line.
  std::string_view operator[](std::size_t i) const { return fields_[i]; }

 private:
  void split_at_blanks(std::string_view line);
  const char* split_quoted_at_blanks(std::string_view line);
  const char* split_quoted(std::string_view line);
  /// Appends the field whose opening quote is at `i`, which goes behind its closing one.
  const char* take_quoted(std::string_view line, std::size_t& i);

  char delimiter_;
  bool quotes_;
  std::vector<std::string_view> fields_;
  std::string unescaped_;  // text of fields with doubled quotes
};

}  // namespace tessera
