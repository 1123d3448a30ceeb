#include "engine/io/text_edge_parser.hpp"

#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "engine/io/digit_runs.hpp"
#include "engine/io/matrix_market_header.hpp"
#include "engine/io/quoted_text.hpp"
#include "engine/io/weight_text.hpp"

namespace tessera {

namespace {

struct LineError {
  std::string text;
};
struct NeedsStrings {};

}  // namespace

TextEdgeParser::TextEdgeParser(const TextFormat& format)
    : format_(format),
      has_third_(format.weighted || format.has_values),
      separators_{format.delimiter == 0 ? ' ' : format.delimiter,
                  format.delimiter == 0 ? '\t' : format.delimiter},
      fields_(format.delimiter, format.quotes) {
  fast_columns_ =
      format.source_column == 0 && format.target_column == 1 && (!has_third_ || format.weight_column == 2);
}

TextEdgeParser::Outcome TextEdgeParser::parse(std::string_view block, LabelMode mode) {
  mode_ = mode;
  counts_ = {};
  constexpr std::size_t kShortestLine = 4;  // "1 2\n"
  sink_.reset(block.size() / kShortestLine + 1, format_.weighted);
  const char* p = block.data();
  const char* const end = p + block.size();
  const bool fast = fast_columns_ && mode != LabelMode::string;
  try {
    while (p < end) {
      if (fast) p = fast_lines(p, end);
      if (p < end) p = general_line(p, end);
    }
  } catch (const LineError& error) {
    error_ = error.text;
    return Outcome::failed;
  } catch (const NeedsStrings&) {
    return Outcome::needs_strings;
  }
  return Outcome::parsed;
}

const char* TextEdgeParser::fast_lines(const char* p, const char* end) {
  if (mode_ == LabelMode::range)
    return has_third_ ? fast_lines<true, true>(p, end) : fast_lines<false, true>(p, end);
  return has_third_ ? fast_lines<true, false>(p, end) : fast_lines<false, false>(p, end);
}

// Reads lines as long as they have the plain form; returns the first that has not, or `end`.
template <bool kThird, bool kRange>
const char* TextEdgeParser::fast_lines(const char* p, const char* end) {
  const std::size_t before = sink_.size();
  std::uint64_t extra = 0;
  while (p < end) {
    std::uint64_t source, target;
    double third = 0;
    const char* q = read_digits(p, source);
    if (q == nullptr || !is_separator(*q)) break;
    q = read_digits(q + 1, target);
    if (q == nullptr) break;
    if constexpr (kThird) {
      q = fast_third(q, end, third);
      if (q == nullptr) break;
    }
    bool has_extra = false;
    if (*q != '\n') [[unlikely]] {
      if (!is_separator(*q) && *q != '\r') break;
      const char last = *q++;
      if (last == '\r' && *q != '\n') break;
      for (; *q != '\n' && *q != 0 && (*q != '\r' || q[1] == '\n'); ++q)
        has_extra |= !is_blank(*q) && *q != '\r';
      if (*q != '\n' || static_cast<std::size_t>(q - p) > kMaxLineBytes) break;
    }
    if constexpr (kRange) {
      if (--source >= format_.matrix_size || --target >= format_.matrix_size) break;
    }
    extra += has_extra;
    if (format_.weighted)
      sink_.add(source, target, third);
    else
      sink_.add(source, target);
    if (kThird && third == 0 && format_.weighted) ++counts_.zero_weights;
    p = q + 1;
  }
  counts_.lines += sink_.size() - before;
  counts_.extra_columns += extra;
  return p;
}

// A separator and a number without sign; nullptr where the general path must look.
const char* TextEdgeParser::fast_third(const char* p, const char* end, double& value) const {
  if (!is_separator(*p)) return nullptr;
  ++p;
  std::uint64_t integer = 0;
  const char* q = read_digits(p, integer);
  if (q != nullptr && (*q == '\n' || *q == '\r' || is_separator(*q))) {
    value = static_cast<double>(integer);
    return q;
  }
  if ((*p < '0' || *p > '9') && *p != '.') return nullptr;
  const auto [stop, error] = std::from_chars(p, end, value);
  return error == std::errc() ? stop : nullptr;
}

// One line of any form. Returns the start of the next.
const char* TextEdgeParser::general_line(const char* p, const char* end) {
  const char* line_end = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
  if (line_end == nullptr) line_end = end;
  const std::string_view line(p, static_cast<std::size_t>(line_end - p));
  ++counts_.lines;
  if (std::memchr(line.data(), 0, line.size()) != nullptr)
    throw LineError{"a NUL byte, expected text (UTF-16 files must be converted to UTF-8)"};
  const std::string_view content = content_of(line);
  if (content.empty()) return line_end == end ? end : line_end + 1;
  if (std::memchr(content.data(), '\r', content.size()) != nullptr)
    throw LineError{carriage_return_inside(content)};
  edge_of(content);
  return line_end == end ? end : line_end + 1;
}

// The line trimmed; empty for blank and comment lines.
std::string_view TextEdgeParser::content_of(std::string_view line) const {
  const std::string_view content = trimmed_line(line, format_.delimiter);
  if (is_comment(content)) {
    if (format_.is_matrix && repeats_matrix_market_banner(content))
      throw LineError{std::string(kSecondBanner)};
    return {};
  }
  if (content.size() > kMaxLineBytes)
    throw LineError{fmt::format("line longer than the limit of {} bytes, begins {}", kMaxLineBytes,
                                quoted_text(content.substr(0, 20)))};
  return content;
}

void TextEdgeParser::edge_of(std::string_view line) {
  if (const char* problem = fields_.split(line); *problem != 0)
    throw LineError{fmt::format("{}: {}", problem, quoted_text(line))};
  if (format_.delimiter == 0 && !format_.quotes && fields_.tears_quotes(format_.columns_used()))
    throw LineError{"a label in quotes with a blank in it (read with --format csv --delimiter space): " +
                    quoted_text(line)};
  const std::size_t needed = std::max(format_.source_column, format_.target_column) + 1;
  if (fields_.size() < needed) {
    if (format_.is_matrix) throw LineError{"expected a row and a column index, found " + quoted_text(line)};
    if (needed > 2)
      throw LineError{fmt::format("expected at least {} columns, found {}: {}", needed, fields_.size(),
                                  quoted_text(line))};
    throw LineError{fmt::format("expected two labels{}, found {}",
                                format_.delimiter == 0
                                    ? std::string()
                                    : fmt::format(" separated by {}", quoted_text({&format_.delimiter, 1})),
                                quoted_text(line))};
  }
  const std::uint64_t source = key_of(fields_[format_.source_column], false);
  const std::uint64_t target = key_of(fields_[format_.target_column], true);
  const double third = has_third_ ? third_of(line) : 0;
  if (format_.weighted)
    sink_.add(source, target, third);
  else
    sink_.add(source, target);
  if (format_.weighted && third == 0) ++counts_.zero_weights;
  if (fields_.size() > format_.columns_used()) ++counts_.extra_columns;
}

std::uint64_t TextEdgeParser::key_of(std::string_view label, bool is_target) {
  if (label.empty()) throw LineError{fmt::format("the {} label is empty", is_target ? "target" : "source")};
  if (mode_ == LabelMode::string) {
    if (!format_.bipartite) return strings_.intern(label);
    prefixed_.assign(1, is_target ? 'R' : 'L').append(label);
    return strings_.intern(prefixed_);
  }
  std::uint64_t value = 0;
  const bool integer = parse_canonical_integer(label, value);
  if (mode_ == LabelMode::range) {
    if (!integer || value == 0 || value > format_.matrix_size)
      throw LineError{
          fmt::format("expected an index from 1 to {}, found {}", format_.matrix_size, quoted_text(label))};
    return value - 1;
  }
  if (integer) return value;
  if (!format_.integer_labels) throw NeedsStrings{};
  throw LineError{
      fmt::format("expected an integer label from 0 to 2^64-1 without sign or leading zeros, found {} "
                  "(--labels string takes any text; --header yes skips a line of column names)",
                  quoted_text(label))};
}

double TextEdgeParser::third_of(std::string_view line) const {
  const char* what = format_.is_matrix ? "value" : "weight";
  if (fields_.size() <= format_.weight_column)
    throw LineError{fmt::format("expected a {} in column {}, found {}", what, format_.weight_column + 1,
                                quoted_text(line))};
  const std::string_view text = fields_[format_.weight_column];
  double value = 0;
  if (format_.weighted ? parse_decimal(text, Sign::not_negative, value)
                       : parse_decimal(text, Sign::any, value))
    return value;
  if (!format_.weighted)
    throw LineError{"expected a number as value of the entry, found " + quoted_text(text)};
  throw LineError{
      fmt::format("expected a finite {} that is not negative, written with a decimal point, found {} "
                  "(--unweighted ignores the column{})",
                  what, quoted_text(text), format_.is_matrix ? "" : "; --header yes skips a line of names")};
}

}  // namespace tessera
