#include "engine/io/ranking_rows.hpp"

#include <algorithm>
#include <vector>

#include "engine/io/csv_text.hpp"
#include "engine/io/json_text.hpp"
#include "engine/io/label_text.hpp"
#include "engine/io/number_text.hpp"
#include "engine/io/terminal_text.hpp"

namespace tessera {
namespace {

constexpr std::size_t kTableLabelWidth = 40;
constexpr int kTableDigits = 6;

/// Readers of JSON hold numbers as doubles; beyond 2^53 they would change the label.
void append_json_integer(std::string& out, std::uint64_t label) {
  constexpr std::uint64_t kLargestExact = std::uint64_t{1} << 53;
  if (label > kLargestExact) out.push_back('"');
  append_number(out, label);
  if (label > kLargestExact) out.push_back('"');
}

void append_json_query(std::string& out, const std::string& query, bool integer_labels) {
  std::uint64_t integer = 0;
  if (integer_labels && parse_canonical_integer(query, integer)) {
    append_json_integer(out, integer);
  } else {
    append_json_string(out, query);
  }
}

void append_padded(std::string& out, std::string_view cell, std::size_t width, bool to_the_right) {
  const std::size_t padding = width - std::min(width, count_characters(cell));
  if (to_the_right) out.append(padding, ' ');
  out.append(cell);
  if (!to_the_right) out.append(padding, ' ');
}

}  // namespace

RankingRows::RankingRows(const Ranking& ranking, const LabelTable& labels, ScoreFormat format)
    : ranking_(ranking),
      labels_(labels),
      format_(format),
      delimiter_(format == ScoreFormat::csv ? ',' : '\t') {
  if (ranking.nodes)
    for (const VertexId node : *ranking.nodes) place_of_node_.emplace(node, place_of_node_.size());
  if (!ranking.query || (format != ScoreFormat::csv && format != ScoreFormat::tsv)) return;
  append_field(query_field_, *ranking.query, delimiter_);
  query_field_.push_back(delimiter_);
}

void RankingRows::append_row(std::string& out, VertexId id) const {
  if (format_ == ScoreFormat::json) return append_json_row(out, id);
  if (format_ == ScoreFormat::table) return append_table_row(out, id);
  const std::size_t place = place_of(id);
  out.append(query_field_);
  append_label(out, id);
  for (const ScoreColumn& column : ranking_.columns) {
    out.push_back(delimiter_);
    append_number(out, column.values[place]);
  }
  out.push_back('\n');
}

std::size_t RankingRows::place_of(VertexId id) const {
  return ranking_.nodes ? place_of_node_.at(id) : std::size_t{id};
}

void RankingRows::append_label(std::string& out, VertexId id) const {
  if (has_integer_labels(labels_)) {
    append_number(out, integer_label(labels_, id));
  } else {
    append_field(out, string_label(labels_, id), delimiter_);
  }
}

void RankingRows::append_json_row(std::string& out, VertexId id) const {
  const std::size_t place = place_of(id);
  out.append(",\n{\"node\": ");
  if (has_integer_labels(labels_)) {
    append_json_integer(out, integer_label(labels_, id));
  } else {
    append_json_string(out, string_label(labels_, id));
  }
  for (const ScoreColumn& column : ranking_.columns) {
    out.append(", \"").append(column.name).append("\": ");
    append_number(out, column.values[place]);
  }
  out.push_back('}');
}

void RankingRows::append_table_row(std::string& out, VertexId id) const {
  const std::size_t place = place_of(id);
  if (has_integer_labels(labels_)) {
    append_number(out, integer_label(labels_, id));
  } else {
    out.append(terminal_cell(string_label(labels_, id), kTableLabelWidth));
  }
  for (const ScoreColumn& column : ranking_.columns) {
    out.push_back('\t');
    append_rounded(out, column.values[place], kTableDigits);
  }
  out.push_back('\n');
}

std::string RankingRows::json_begin(bool first) const {
  std::string text = first ? "{" : ",\n{";
  if (ranking_.query) {
    text.append("\"query\": ");
    append_json_query(text, *ranking_.query, has_integer_labels(labels_));
    text.append(", ");
  }
  return text + "\"nodes\": [";
}

std::string ranking_header(const Ranking& ranking, char delimiter) {
  std::string header;
  if (ranking.query) header.append("query").push_back(delimiter);
  header.append("node");
  for (const ScoreColumn& column : ranking.columns) header.append(1, delimiter).append(column.name);
  return header + '\n';
}

std::string format_table(const Ranking& ranking, std::string_view rows) {
  std::vector<std::vector<std::string>> cells{{"", "node"}};  // line by line, the header first
  for (const ScoreColumn& column : ranking.columns) cells[0].push_back(column.name);
  while (!rows.empty()) {
    std::vector<std::string>& line = cells.emplace_back();
    line.push_back(std::to_string(cells.size() - 1));
    for (char end = '\t'; end != '\n';) {
      const std::size_t length = rows.find_first_of("\t\n");
      end = rows[length];
      line.emplace_back(rows.substr(0, length));
      rows.remove_prefix(length + 1);
    }
  }
  std::vector<std::size_t> widths(cells[0].size());
  for (const auto& line : cells)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], count_characters(line[c]));

  std::string table;
  if (ranking.query) table = "query: " + terminal_cell(*ranking.query, kTableLabelWidth) + '\n';
  for (const auto& line : cells) {
    for (std::size_t c = 0; c < line.size(); ++c) {
      if (c != 0) table.append("  ");
      const bool last = c + 1 == line.size();
      append_padded(table, line[c], last && c > 1 ? 0 : widths[c], c == 0);
    }
    table.push_back('\n');
  }
  return table;
}

}  // namespace tessera
