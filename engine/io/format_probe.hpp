// Finds the format of a text from its first bytes: content decides, not the suffix.
#pragma once
#include "engine/graph_options.hpp"
#include "engine/io/text_format.hpp"
#include "engine/io/text_head.hpp"

namespace tessera {

/// Throws InputError where the head is no text, is of a format that is not read, or has a bad header;
/// OptionError where options contradict what is there.
TextFormat probe_format(const TextHead& head, const GraphOptions& options);

}  // namespace tessera
