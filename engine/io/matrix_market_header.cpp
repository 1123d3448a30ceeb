#include "engine/io/matrix_market_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/io/line_fields.hpp"
#include "engine/io/lower_case.hpp"
#include "engine/io/quoted_text.hpp"
#include "engine/label_table.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

namespace {

MatrixMarketBanner banner_of(const TextHead& head, const HeadLine& line) {
  LineFields words(0, false);
  const std::string text = lower_case(trimmed_line(line.text, 0));
  words.split(text);
  const std::uint64_t number = std::max<std::uint64_t>(line.number, 1);  // 0 when the text is empty
  if (words.size() < 5 || !words[0].ends_with("%matrixmarket"))
    fail_at_line(head, number,
                 "expected the banner \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\", found " +
                     quoted_text(line.text));
  const std::string_view object = words[1], layout = words[2], field = words[3], symmetry = words[4];
  if (object != "matrix")
    fail_at_line(head, number, "object " + quoted_text(object) + " is not read, expected \"matrix\"");
  if (layout != "coordinate")
    fail_at_line(
        head, number,
        "layout " + quoted_text(layout) + " is not read, expected \"coordinate\" (a list of entries)");
  if (field != "pattern" && field != "real" && field != "double" && field != "integer" &&
      field != "unsigned-integer")
    fail_at_line(head, number,
                 "field " + quoted_text(field) + " is not read, expected pattern, real or integer");
  if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric")
    fail_at_line(
        head, number,
        "symmetry " + quoted_text(symmetry) + " is not read, expected general, symmetric or skew-symmetric");
  return {std::string(field), std::string(symmetry), number};
}

MatrixMarketSizes sizes_of(const TextHead& head, const HeadLine& line) {
  LineFields words(0, false);
  words.split(trimmed_line(line.text, 0));
  std::array<std::uint64_t, 3> sizes{};
  bool numbers = words.size() == 3;
  for (std::size_t i = 0; numbers && i < 3; ++i) numbers = parse_canonical_integer(words[i], sizes[i]);
  if (!numbers)
    fail_at_line(head, line.number,
                 "expected the size line \"ROWS COLUMNS ENTRIES\" (three integers below 2^64), found " +
                     quoted_text(line.text));
  return {sizes[0], sizes[1], sizes[2], line.number, line.next_offset};
}

void check_sizes(const TextHead& head, const MatrixMarketSizes& sizes, bool must_be_square, bool symmetric) {
  const auto [rows, columns, entries, line, body_offset] = sizes;
  if (must_be_square && rows != columns)
    fail_at_line(head, line,
                 fmt::format("{} x {} is not square{}", rows, columns,
                             symmetric ? ", but the banner says symmetric"
                                       : "; ranking needs one row and one column for every vertex"));
  if (rows > kMaxVertices)
    fail_at_line(head, line, fmt::format("{} rows, at most {} are possible", rows, kMaxVertices));
  if (columns > kMaxVertices)
    fail_at_line(head, line, fmt::format("{} columns, at most {} are possible", columns, kMaxVertices));
  // Each entry takes 4 bytes at least: two digits, a blank and a newline, which the last may lack.
  const std::uint64_t follow = head.total_bytes - std::min<std::uint64_t>(head.total_bytes, body_offset);
  if (head.total_bytes != 0 && entries > (follow + 1) / 4)
    fail_at_line(head, line,
                 fmt::format("the size line states {} entries, but only {} bytes follow: "
                             "truncated, or not the size line",
                             entries, follow));
}

/// What banner and options together say about the edges.
void apply_banner(const TextHead& head, const MatrixMarketBanner& banner, const GraphOptions& options,
                  TextFormat& format) {
  format.has_values = banner.has_values();
  if (options.weighted && !format.has_values)
    fail_at_line(head, banner.line, "a pattern matrix has no values to use as weights; leave --weighted out");
  format.weighted = format.has_values && !options.unweighted;
  if (banner.symmetry == "skew-symmetric" && format.weighted)
    fail_at_line(
        head, banner.line,
        "a skew-symmetric matrix has negative values, weights must not be; --unweighted ignores them");
  const bool expand = banner.symmetry != "general";
  format.undirected = (expand || options.undirected) && !options.directed;
  format.notes.push_back(
      fmt::format("the Matrix Market banner says \"{} {}\"", banner.field, banner.symmetry));
}

}  // namespace

bool is_matrix_market_banner(std::string_view line) {
  std::string_view content = trimmed_line(line, 0);
  if (!content.starts_with('%')) return false;
  while (content.starts_with('%')) content.remove_prefix(1);
  const std::string text = lower_case(content);
  return text.starts_with("matrixmarket") || text.find(" matrix coordinate ") != std::string::npos ||
         text.find(" matrix array ") != std::string::npos;
}

bool repeats_matrix_market_banner(std::string_view line) {
  constexpr std::string_view kBegin = "%%matrixmarket";
  return lower_case(line.substr(0, kBegin.size())) == kBegin;
}

void check_matrix_market_entries(const std::string& name, std::uint64_t size_line, std::uint64_t stated,
                                 std::uint64_t found) {
  if (found == stated) return;
  throw InputError(fmt::format("{}: the size line (line {}) states {} entries, the file has {}{}", name,
                               size_line, stated, found, found < stated ? "; is it complete?" : ""));
}

MatrixMarketBanner read_matrix_market_banner(const TextHead& head, HeadLines& lines) {
  HeadLine line;
  while (lines.next(line) && trimmed_line(line.text, 0).empty()) continue;
  return banner_of(head, line);
}

MatrixMarketSizes read_matrix_market_sizes(const TextHead& head, const MatrixMarketBanner& banner,
                                           bool must_be_square, HeadLines& lines) {
  for (HeadLine line; lines.next(line);) {
    const std::string_view content = trimmed_line(line.text, 0);
    if (repeats_matrix_market_banner(content)) fail_at_line(head, line.number, std::string(kSecondBanner));
    if (content.empty() || is_comment(content)) continue;
    const MatrixMarketSizes sizes = sizes_of(head, line);
    check_sizes(head, sizes, must_be_square, banner.symmetry != "general");
    return sizes;
  }
  throw InputError(head.name + ": the size line \"ROWS COLUMNS ENTRIES\" is missing");
}

TextFormat read_matrix_market_header(const TextHead& head, const GraphOptions& options) {
  TextFormat format;
  format.format = InputFormat::matrix_market;
  format.name = "Matrix Market";
  format.is_matrix = true;
  HeadLines lines(head, byte_order_mark_size(head.text));
  const MatrixMarketBanner banner = read_matrix_market_banner(head, lines);
  apply_banner(head, banner, options, format);
  const MatrixMarketSizes sizes = read_matrix_market_sizes(head, banner, true, lines);
  format.matrix_size = sizes.num_rows;
  format.matrix_entries = sizes.num_entries;
  format.body_offset = sizes.body_offset;
  format.body_line = sizes.line + 1;
  return format;
}

}  // namespace tessera
