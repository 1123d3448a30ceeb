#include "tests/support/reference_data.hpp"

#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace tessera::test {
namespace {

std::string read_gzip(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot read " + path);
  std::string text;
  char block[1 << 16];
  for (int got; (got = gzread(file, block, sizeof block)) > 0;)
    text.append(block, static_cast<std::size_t>(got));
  gzclose(file);
  return text;
}

using Row = std::map<std::string, std::string>;

/// A table with a header line, tabs between fields.
std::vector<Row> parse_table(const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::string> names;
  std::vector<Row> rows;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, '\t');) fields.push_back(field);
    if (names.empty()) {
      names = fields;
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = i < fields.size() ? fields[i] : "";
    rows.push_back(row);
  }
  return rows;
}

std::vector<Row> read_table(const std::string& path) {
  if (path.ends_with(".gz")) return parse_table(read_gzip(path));
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return parse_table({std::istreambuf_iterator<char>(file), {}});
}

}  // namespace

std::vector<ReferenceCase> reference_cases(const std::vector<std::string>& folders) {
  std::vector<ReferenceCase> cases;
  std::set<std::string> seen;
  for (const std::string& folder : folders) {
    if (!std::filesystem::exists(folder + "/graphs.tsv")) continue;
    for (const Row& row : read_table(folder + "/graphs.tsv")) {
      const std::string& id = row.at("id");
      const bool has_answers = std::filesystem::exists(folder + "/reference/" + id + ".sums.tsv");
      if (has_answers && seen.insert(id).second) cases.push_back({folder, id});
    }
  }
  return cases;
}

ReferenceGraph load_reference(const ReferenceCase& which) {
  ReferenceGraph graph{.id = which.id, .options = {}, .answers = {}};
  for (const Row& row : read_table(which.folder + "/graphs.tsv")) {
    if (row.at("id") != which.id) continue;
    graph.options.path = which.folder + "/" + row.at("plain_file");
    graph.options.undirected = row.at("directed") == "0";
    graph.options.weighted = row.at("weighted") == "1";
  }
  const std::string stem = which.folder + "/reference/" + which.id;
  for (const Row& row : read_table(stem + ".sums.tsv"))
    graph.answers.push_back({.name = row.at("answer"),
                             .query = row.at("query"),
                             .top = {},
                             .sum = std::stod(row.at("sum")),
                             .sum_squares = std::stod(row.at("sum_sq")),
                             .sum_positions = std::stod(row.at("sum_pos")),
                             .largest = std::stod(row.at("max"))});
  for (const Row& row : read_table(stem + ".top100.tsv.gz"))
    for (ReferenceAnswer& answer : graph.answers)
      if (answer.name == row.at("answer") && answer.query == row.at("query"))
        answer.top[row.at("label")] = std::stod(row.at("score"));
  return graph;
}

}  // namespace tessera::test
