#include "engine/io/matrix_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/io/line_fields.hpp"
#include "engine/io/matrix_market_header.hpp"
#include "engine/io/open_input.hpp"
#include "engine/io/quoted_text.hpp"
#include "engine/io/weight_text.hpp"
#include "engine/label_table.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

namespace {

struct Entry {
  VertexId row, col;
  double value;
};

/// `size` of them are set.
struct Entries {
  Buffer<Entry> items;
  std::size_t size = 0;
  void add(const Entry& entry) { items[size++] = entry; }
};

/// The trimmed line without comment; empty when there is nothing else.
std::string_view content_of(const TextHead& text, const HeadLine& line) {
  const std::string_view content = trimmed_line(line.text, 0);
  if (repeats_matrix_market_banner(content)) fail_at_line(text, line.number, std::string(kSecondBanner));
  if (is_comment(content)) return {};
  if (content.find('\r') != std::string_view::npos)
    fail_at_line(text, line.number, carriage_return_inside(content));
  return content;
}

VertexId index_of(const TextHead& text, std::uint64_t line, std::string_view field, const char* what,
                  std::uint64_t size) {
  std::uint64_t index = 0;
  if (!parse_canonical_integer(field, index) || index == 0 || index > size)
    fail_at_line(text, line,
                 fmt::format("expected a {} index from 1 to {}, found {}", what, size, quoted_text(field)));
  return static_cast<VertexId>(index - 1);
}

/// Reads the lines of the body, one entry each.
class EntryParser {
 public:
  EntryParser(const TextHead& text, const MatrixMarketBanner& banner, const MatrixMarketSizes& sizes)
      : text_(text),
        sizes_(sizes),
        has_values_(banner.has_values()),
        mirrored_(banner.symmetry != "general"),
        skew_(banner.symmetry == "skew-symmetric") {}

  Entries parse(HeadLines& lines) {
    Entries entries;
    entries.items = Buffer<Entry>(sizes_.num_entries * (mirrored_ ? 2 : 1));
    std::uint64_t found = 0;
    for (HeadLine line; lines.next(line);) {
      const std::string_view content = content_of(text_, line);
      if (content.empty()) continue;
      const Entry entry = entry_of(content, line.number);
      if (++found > sizes_.num_entries) continue;  // counted for the message
      entries.add(entry);
      if (mirrored_ && entry.row != entry.col)
        entries.add({entry.col, entry.row, skew_ ? 0 - entry.value : entry.value});  // 0 - 0 is +0
    }
    check_matrix_market_entries(text_.name, sizes_.line, sizes_.num_entries, found);
    return entries;
  }

 private:
  Entry entry_of(std::string_view content, std::uint64_t line) {
    fields_.split(content);
    if (fields_.size() != (has_values_ ? 3 : 2))
      fail_at_line(
          text_, line,
          fmt::format("expected {}, found {}",
                      has_values_ ? "a row index, a column index and a value"
                                  : "a row index and a column index (the banner says pattern: no values)",
                      quoted_text(content)));
    Entry entry{index_of(text_, line, fields_[0], "row", sizes_.num_rows),
                index_of(text_, line, fields_[1], "column", sizes_.num_cols), 1};
    if (has_values_ && !parse_decimal(fields_[2], Sign::any, entry.value))
      fail_at_line(text_, line,
                   "expected a finite value, written with a decimal point, found " + quoted_text(fields_[2]));
    if (skew_ && entry.row == entry.col && entry.value != 0)
      fail_at_line(
          text_, line,
          "expected 0 on the diagonal, as the banner says skew-symmetric, found " + quoted_text(fields_[2]));
    return entry;
  }

  const TextHead& text_;
  const MatrixMarketSizes& sizes_;
  const bool has_values_, mirrored_, skew_;
  LineFields fields_{0, false};
};

/// Entries to rows by counting: stable, so that repeated entries stay in the order of the file.
void fill_rows(const Entries& entries, SparseMatrix& matrix) {
  EdgeOffset* const offsets = matrix.row_offsets.data();
  const std::uint64_t num_rows = matrix.num_rows;
  std::fill(matrix.row_offsets.begin(), matrix.row_offsets.end(), 0);
  for (std::size_t k = 0; k < entries.size; ++k) ++offsets[entries.items[k].row + std::size_t{1}];
  for (std::uint64_t i = 0; i < num_rows; ++i) offsets[i + 1] += offsets[i];
  for (std::size_t k = 0; k < entries.size; ++k) {
    const Entry& entry = entries.items[k];
    const EdgeOffset at = offsets[entry.row]++;
    matrix.col_indices[at] = entry.col;
    matrix.values[at] = entry.value;
  }
  // Each offset has moved on to the start of the next row.
  std::memmove(offsets + 1, offsets, num_rows * sizeof(EdgeOffset));
  offsets[0] = 0;
}

void sort_row(SparseMatrix& matrix, EdgeOffset begin, EdgeOffset end,
              std::vector<std::pair<VertexId, double>>& scratch) {
  const VertexId* const columns = matrix.col_indices.data();
  if (std::is_sorted(columns + begin, columns + end)) return;
  scratch.clear();
  for (EdgeOffset k = begin; k < end; ++k) scratch.emplace_back(matrix.col_indices[k], matrix.values[k]);
  std::stable_sort(scratch.begin(), scratch.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (EdgeOffset k = begin; k < end; ++k)
    std::tie(matrix.col_indices[k], matrix.values[k]) = scratch[k - begin];
}

/// Sorts the columns of each row and adds repeated entries, in place.
void sort_and_merge(const std::string& name, SparseMatrix& matrix) {
  std::vector<std::pair<VertexId, double>> scratch;
  EdgeOffset out = 0, begin = 0;
  for (std::uint64_t i = 0; i < matrix.num_rows; ++i) {
    const EdgeOffset end = matrix.row_offsets[i + 1], first = out;
    sort_row(matrix, begin, end, scratch);
    for (EdgeOffset k = begin; k < end; ++k) {
      const VertexId column = matrix.col_indices[k];
      const double value = matrix.values[k];
      if (out == first || matrix.col_indices[out - 1] != column) {
        matrix.col_indices[out] = column;
        matrix.values[out++] = value;
      } else if (!std::isfinite(matrix.values[out - 1] += value)) {
        throw InputError(
            fmt::format("{}: the entries of row {}, column {} add up to more than a double holds", name,
                        i + 1, column + std::uint64_t{1}));
      }
    }
    matrix.row_offsets[i + 1] = out;
    begin = end;
  }
  matrix.col_indices.truncate(out);
  matrix.values.truncate(out);
}

}  // namespace

SparseMatrix read_matrix(const std::string& path) {
  TextHead text = read_whole(path);
  (void)first_content_of_text(text);  // refuses lines that end in CR alone
  HeadLines lines(text, byte_order_mark_size(text.text));
  const MatrixMarketBanner banner = read_matrix_market_banner(text, lines);
  const bool mirrored = banner.symmetry != "general";
  if (banner.symmetry == "skew-symmetric" && !banner.has_values())
    fail_at_line(text, banner.line,
                 "a pattern matrix has no values to negate, so it cannot be skew-symmetric");
  const MatrixMarketSizes sizes = read_matrix_market_sizes(text, banner, mirrored, lines);
  Entries entries = EntryParser(text, banner, sizes).parse(lines);
  const std::size_t num_listed = entries.size;
  std::string().swap(text.text);

  SparseMatrix matrix;
  matrix.num_rows = sizes.num_rows;
  matrix.num_cols = sizes.num_cols;
  matrix.row_offsets = Buffer<EdgeOffset>(sizes.num_rows + 1);
  matrix.col_indices = Buffer<VertexId>(num_listed);
  matrix.values = Buffer<double>(num_listed);
  matrix.symmetric = banner.symmetry == "symmetric";
  fill_rows(entries, matrix);
  entries = {};
  sort_and_merge(text.name, matrix);
  matrix.pattern = !banner.has_values() && matrix.num_nonzeros() == num_listed;
  return matrix;
}

bool is_matrix_file(const std::string& path) {
  OpenInput input = open_input(path, "");
  const TextHead head = read_head(input);
  return is_matrix_market_banner(first_content(head));
}

}  // namespace tessera
