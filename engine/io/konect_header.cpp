#include "engine/io/konect_header.hpp"

#include "engine/io/line_fields.hpp"

namespace tessera {

namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  for (const std::string_view candidate : words)
    if (word == candidate) return true;
  return false;
}

}  // namespace

bool is_konect_header(std::string_view first_line) {
  LineFields fields(0, false);
  fields.split(trimmed_line(first_line, 0));
  return fields.size() >= 3 && fields[0] == "%" && is_one_of(fields[1], {"sym", "asym", "bip"}) &&
         is_one_of(fields[2], {"unweighted", "positive", "posweighted", "signed", "weighted", "multisigned",
                               "multiweighted", "multiposweighted", "dynamic"});
}

void apply_konect_header(std::string_view first_line, std::size_t columns, const GraphOptions& options,
                         TextFormat& format) {
  LineFields fields(0, false);
  fields.split(trimmed_line(first_line, 0));
  const std::string kind(fields[1]), weights(fields[2]);
  format.format = InputFormat::konect;
  format.name = "KONECT";
  format.bipartite = kind == "bip";
  format.undirected = (kind == "sym" || options.undirected) && !options.directed;
  format.notes.push_back("the KONECT header says \"" + kind + " " + weights + "\"");
  if (format.bipartite)
    format.notes.push_back(
        "bipartite: the two sides number their vertices separately, so labels get the prefix L or R");
  const bool declared = !is_one_of(weights, {"unweighted", "dynamic"});
  if (declared && columns >= 3 && !options.unweighted)
    format.weighted = true;
  else if (declared && columns > 0 && columns < 3 && !options.weighted)
    format.notes.push_back("there is no column of weights: every line counts as one edge");
  if (weights.starts_with("multi") || weights == "positive")
    format.notes.push_back(
        "edges may be repeated in this network; --duplicates decides what happens to them");
  if (weights == "dynamic")
    format.notes.push_back("dynamic network: lines that remove an edge are read as edges");
  if (columns >= 4) format.notes.push_back("times (column 4) are ignored");
}

}  // namespace tessera
