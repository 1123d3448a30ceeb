#include "engine/io/other_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "engine/io/line_fields.hpp"
#include "engine/io/lower_case.hpp"
#include "engine/label_table.hpp"

namespace tessera {

namespace {

using Fields = std::vector<std::string_view>;

/// The next line that is neither blank nor comment, trimmed; an empty one at the end.
HeadLine next_content(HeadLines& lines) {
  for (HeadLine line; lines.next(line);) {
    line.text = trimmed_line(line.text, 0);
    if (!line.text.empty() && !is_comment(line.text)) return line;
  }
  return {};
}

Fields words_of(std::string_view line) {
  LineFields fields(0, false);
  fields.split(line);
  Fields words;
  for (std::size_t i = 0; i < fields.size(); ++i) words.push_back(fields[i]);
  return words;
}

bool is_integer(std::string_view word) {
  std::uint64_t value = 0;
  return parse_canonical_integer(word, value);
}

/// What follows `word` and blanks in `line`, or nothing where the line begins with another word.
std::optional<std::string_view> after_word(std::string_view line, std::string_view word) {
  if (!line.starts_with(word)) return std::nullopt;
  const std::string_view rest = line.substr(word.size());
  if (!rest.empty() && !is_blank(rest[0]) && rest[0] != '{' && rest[0] != '[') return std::nullopt;
  return trimmed_line(rest, 0);
}

/// "graph [", the bracket on the next line too. A bracket that closes at once belongs to a label.
bool is_gml(std::string_view first, std::string_view second) {
  const auto rest = after_word(first, "graph");
  if (!rest) return false;
  if (rest->empty()) return second.starts_with('[');
  return rest->starts_with('[') && (rest->find(']') == rest->npos || rest->find('[', 1) != rest->npos);
}

/// What follows the brace of a graph in DOT: nothing on its line, or statements. "{x}" is a label.
bool is_dot_body(std::string_view text) {
  const auto has = [&](std::string_view mark) { return text.find(mark) != text.npos; };
  return text.empty() || has("--") || has("->") || has(";");
}

/// "graph G {", "strict digraph {", the brace on the next line too, or all of it on one line.
bool is_dot(std::string_view first, std::string_view second) {
  first = after_word(first, "strict").value_or(first);
  auto rest = after_word(first, "graph");
  if (!rest) rest = after_word(first, "digraph");
  if (!rest) return false;
  const std::size_t brace = rest->find('{');
  if (brace != rest->npos) return is_dot_body(rest->substr(brace + 1));
  return second.starts_with('{') && is_dot_body(second.substr(1));
}

/// An array, or its first line: "[", "[{", "[1, 2],". Labels may be in brackets too: "[a] [b]", "[[a]]
/// [[b]]".
bool is_json_array(std::string_view first) {
  if (!first.starts_with('[')) return false;
  const std::string_view rest = trimmed_line(first.substr(1), 0);
  if (rest.starts_with('{')) {
    const std::string_view object = trimmed_line(rest.substr(1), 0);
    return object.empty() || object.starts_with('"');
  }
  if (first.ends_with(',')) first.remove_suffix(1);
  return nlohmann::json::accept(first) || nlohmann::json::accept(std::string(first) + "]");
}

/// Words of the next line that is not "c COMMENT".
Fields next_dimacs_line(HeadLines& lines) {
  for (;;) {
    Fields words = words_of(next_content(lines).text);
    if (words.empty() || words[0] != "c") return words;
  }
}

/// "p sp NODES ARCS" and then "a 1 2 4", "e 1 2" or "n 1 s".
bool is_dimacs(HeadLines lines) {
  static constexpr std::string_view kProblems[] = {"sp", "max", "min", "asn", "edge", "edges", "col"};
  const Fields problem = next_dimacs_line(lines);
  if (problem.size() != 4 || problem[0] != "p" || !is_integer(problem[2]) || !is_integer(problem[3]) ||
      std::find(std::begin(kProblems), std::end(kProblems), problem[1]) == std::end(kProblems))
    return false;
  const Fields entry = next_dimacs_line(lines);
  return entry.size() > 1 && (entry[0] == "a" || entry[0] == "e" || entry[0] == "n") && is_integer(entry[1]);
}

/// "a -> b" on the first two lines.
bool has_arrows(std::string_view first, std::string_view second) {
  const auto has_one = [](std::string_view line) {
    const Fields words = words_of(line);
    return words.size() > 2 && (words[1] == "->" || words[1] == "-->" || words[1] == "--" ||
                                words[1] == "<->" || words[1] == "=>");
  };
  return has_one(first) && (second.empty() || has_one(second));
}

const char* name_of_other_format(const std::string& first, std::string_view second) {
  static constexpr const char* kStarts[][2] = {{"<?xml", "XML (GraphML, GEXF)"},
                                               {"<graphml", "GraphML"},
                                               {"<!doctype", "HTML"},
                                               {"<html", "HTML"},
                                               {"*vertices", "Pajek"},
                                               {"*network", "Pajek"},
                                               {"*arcs", "Pajek"},
                                               {"*edges", "Pajek"},
                                               {"creator \"", "GML"},
                                               {"dl n", "UCINET DL"},
                                               {"{", "JSON"},
                                               {"version https://git-lfs", "a Git LFS pointer"}};
  for (const auto& [prefix, name] : kStarts)
    if (first.starts_with(prefix)) return name;
  if (is_gml(first, second)) return "GML";
  if (is_dot(first, second)) return "DOT";
  if (has_arrows(first, second)) return "lines with arrows";
  return is_json_array(first) ? "JSON" : nullptr;
}

}  // namespace

void refuse_other_formats(const TextHead& head) {
  const HeadLines begin(head, byte_order_mark_size(head.text));
  HeadLines lines = begin;
  const HeadLine first = next_content(lines);
  const char* name = name_of_other_format(lower_case(first.text), next_content(lines).text);
  if (name == nullptr && is_dimacs(begin)) name = "DIMACS";
  if (name == nullptr) return;
  fail_at_line(head, first.number,
               fmt::format("this looks like {}, which is not read; convert it to an edge list "
                           "(--format edge-list reads it as one all the same)",
                           name));
}

}  // namespace tessera
