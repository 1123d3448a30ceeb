// The first line of KONECT's out.* files: "% asym positive", which states direction and weights.
#pragma once
#include <string_view>

#include "engine/graph_options.hpp"
#include "engine/io/text_format.hpp"

namespace tessera {

bool is_konect_header(std::string_view first_line);
/// Fills format, direction, weights and notes from the header. `columns` is the number of columns of the
/// first line of data (0 = no such line).
void apply_konect_header(std::string_view first_line, std::size_t columns, const GraphOptions& options,
                         TextFormat& format);

}  // namespace tessera
