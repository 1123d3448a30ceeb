// "Did you mean": the known name that a mistyped one is nearest to.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace tessera::cli {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name nearest to `typed`, or "" when none is near: a third of its letters, at least one, may differ,
/// where the dashes of options do not count.
std::string nearest_name(std::string_view typed, std::span<const std::string> names);

/// "; did you mean NAME?", or "" when nothing is near.
std::string did_you_mean(std::string_view typed, std::span<const std::string> names);

}  // namespace tessera::cli
