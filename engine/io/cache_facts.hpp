// GraphFacts as the JSON section of a cache.
#pragma once
#include <string>
#include <string_view>

#include "engine/graph.hpp"

namespace tessera {

/// Text and notes as UTF-8; `duplicates` and the two flags are in the header, not here.
std::string facts_to_json(const GraphFacts& facts);

/// Missing members keep their defaults, unknown ones are ignored. Control bytes in texts are escaped, so that
/// a hostile file cannot reach a terminal. Throws InputError "PATH: section facts: ...".
GraphFacts facts_from_json(std::string_view json, const std::string& path);

}  // namespace tessera
