#include "engine/io/matrix_market_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/io/line_fields.hpp"
#include "engine/io/quoted_text.hpp"
#include "engine/label_table.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

[[noreturn]] void fail(const TextHead& head, std::uint64_t line, const std::string& what) {
  throw InputError(fmt::format("{}:{}: {}", head.name, line, what));
}

void apply_banner(const TextHead& head, const HeadLine& line, const GraphOptions& options,
                  TextFormat& format) {
  LineFields words(0, false);
  const std::string banner = lower(trimmed_line(line.text, 0));
  words.split(banner);
  if (words.size() < 5 || !words[0].ends_with("%matrixmarket"))
    fail(head, line.number,
         "expected the banner \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\", found " +
             quoted_text(line.text));
  const std::string_view object = words[1], layout = words[2], field = words[3], symmetry = words[4];
  if (object != "matrix")
    fail(head, line.number, "object " + quoted_text(object) + " is not read, expected \"matrix\"");
  if (layout != "coordinate")
    fail(head, line.number,
         "layout " + quoted_text(layout) + " is not read, expected \"coordinate\" (a list of entries)");
  if (field != "pattern" && field != "real" && field != "double" && field != "integer" &&
      field != "unsigned-integer")
    fail(head, line.number,
         "field " + quoted_text(field) + " is not read, expected pattern, real or integer");
  if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric")
    fail(head, line.number,
         "symmetry " + quoted_text(symmetry) + " is not read, expected general, symmetric or skew-symmetric");
  format.has_values = field != "pattern";
  if (options.weighted && !format.has_values)
    fail(head, line.number, "a pattern matrix has no values to use as weights; leave --weighted out");
  format.weighted = format.has_values && !options.unweighted;
  if (symmetry == "skew-symmetric" && format.weighted)
    fail(head, line.number,
         "a skew-symmetric matrix has negative values, weights must not be; --unweighted ignores them");
  const bool expand = symmetry != "general";
  format.undirected = (expand || options.undirected) && !options.directed;
  format.notes.push_back(fmt::format("the Matrix Market banner says \"{} {}\"", field, symmetry));
}

void apply_size_line(const TextHead& head, const HeadLine& line, bool symmetric, TextFormat& format) {
  LineFields words(0, false);
  words.split(trimmed_line(line.text, 0));
  std::array<std::uint64_t, 3> sizes{};
  bool numbers = words.size() == 3;
  for (std::size_t i = 0; numbers && i < 3; ++i) numbers = parse_canonical_integer(words[i], sizes[i]);
  if (!numbers)
    fail(head, line.number,
         "expected the size line \"ROWS COLUMNS ENTRIES\" (three integers below 2^64), found " +
             quoted_text(line.text));
  const auto [rows, columns, entries] = sizes;
  if (rows != columns)
    fail(head, line.number,
         fmt::format("{} x {} is not square{}", rows, columns,
                     symmetric ? ", but the banner says symmetric"
                               : "; ranking needs one row and one column for every vertex"));
  if (rows > kMaxVertices)
    fail(head, line.number, fmt::format("{} rows, at most {} are possible", rows, kMaxVertices));
  // Each entry takes 4 bytes at least: two digits, a blank and a newline, which the last may lack.
  const std::uint64_t follow = head.total_bytes - std::min<std::uint64_t>(head.total_bytes, line.next_offset);
  if (head.total_bytes != 0 && entries > (follow + 1) / 4)
    fail(head, line.number,
         fmt::format("the size line states {} entries, but only {} bytes follow: "
                     "truncated, or not the size line",
                     entries, follow));
  format.matrix_size = rows;
  format.matrix_entries = entries;
  format.body_offset = line.next_offset;
  format.body_line = line.number + 1;
}

}  // namespace

bool is_matrix_market_banner(std::string_view line) {
  std::string_view content = trimmed_line(line, 0);
  if (!content.starts_with('%')) return false;
  while (content.starts_with('%')) content.remove_prefix(1);
  const std::string text = lower(content);
  return text.starts_with("matrixmarket") || text.find(" matrix coordinate ") != std::string::npos ||
         text.find(" matrix array ") != std::string::npos;
}

TextFormat read_matrix_market_header(const TextHead& head, const GraphOptions& options) {
  TextFormat format;
  format.format = InputFormat::matrix_market;
  format.name = "Matrix Market";
  format.is_matrix = true;
  HeadLines lines(head, byte_order_mark_size(head.text));
  HeadLine line;
  while (lines.next(line) && trimmed_line(line.text, 0).empty()) continue;
  apply_banner(head, line, options, format);
  const bool symmetric = lower(line.text).find("symmetric") != std::string::npos;
  while (lines.next(line)) {
    const std::string_view content = trimmed_line(line.text, 0);
    if (is_matrix_market_banner(content))
      fail(head, line.number, "a second Matrix Market banner; one file holds one matrix");
    if (content.empty() || is_comment(content)) continue;
    apply_size_line(head, line, symmetric, format);
    return format;
  }
  throw InputError(head.name + ": the size line \"ROWS COLUMNS ENTRIES\" is missing");
}

}  // namespace tessera
