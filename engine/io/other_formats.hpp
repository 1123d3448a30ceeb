// Formats of other programs, which are not read and would pass for an edge list of nonsense: named by
// format_probe, so that the user knows what to convert.
#pragma once
#include "engine/io/text_head.hpp"

namespace tessera {

/// Throws InputError with the name of the format that the text begins like (GML, DOT, DIMACS, JSON ...). Edge
/// lists whose labels are words of these formats ("graph", "p") pass.
void refuse_other_formats(const TextHead& head);

}  // namespace tessera
