#include "engine/io/cache_facts.hpp"

#include <nlohmann/json.hpp>

#include "engine/io/terminal_text.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Calls visit(name, member) for every count and text; one list serves both directions.
template <class Facts, class Visit>
void for_each_member(Facts& facts, Visit visit) {
  visit("lines_read", facts.lines_read);
  visit("edges_read", facts.edges_read);
  visit("self_loops", facts.self_loops);
  visit("self_loops_dropped", facts.self_loops_dropped);
  visit("duplicate_edges", facts.duplicate_edges);
  visit("zero_weights", facts.zero_weights);
  visit("extra_columns", facts.extra_columns);
  visit("format", facts.format);
  visit("compression", facts.compression);
  visit("label_choice", facts.label_choice);
  visit("notes", facts.notes);
}

}  // namespace

std::string facts_to_json(const GraphFacts& facts) {
  nlohmann::json json = nlohmann::json::object();
  for_each_member(facts, [&](const char* name, const auto& member) { json[name] = member; });
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

GraphFacts facts_from_json(std::string_view json, const std::string& path) {
  GraphFacts facts;
  try {
    const nlohmann::json parsed = nlohmann::json::parse(json);
    for_each_member(facts, [&](const char* name, auto& member) {
      if (parsed.contains(name)) parsed.at(name).get_to(member);
    });
  } catch (const nlohmann::json::exception& e) {
    throw InputError(path + ": section facts: " + escape_for_terminal(e.what()));
  }
  for (std::string* text : {&facts.format, &facts.compression, &facts.label_choice})
    *text = escape_for_terminal(*text);
  for (std::string& note : facts.notes) note = escape_for_terminal(note);
  return facts;
}

}  // namespace tessera
