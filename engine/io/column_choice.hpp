// Which columns hold source, target and weight: --columns by number or name, header lines found or given.
#pragma once
#include <string>
#include <vector>

#include "engine/graph_options.hpp"
#include "engine/io/text_format.hpp"
#include "engine/io/text_head.hpp"

namespace tessera {

/// Lines of data (neither blank nor comment) that a format is guessed from.
using SampleLines = std::vector<HeadLine>;

/// Throws OptionError where the options say what columns mean, of a format that says so itself: it has no
/// line of names, and unless it has a choice (KONECT), no columns to choose from.
void refuse_column_options(const GraphOptions& options, const std::string& format, bool has_choice);

/// Decides on the header line and the columns; fills columns, weighted, body_offset, body_line, notes.
/// `format.delimiter` and `quotes` are set already. Throws OptionError for a bad --columns, InputError where
/// the header has no such name.
void choose_columns(const TextHead& head, const SampleLines& sample, const GraphOptions& options,
                    TextFormat& format);

}  // namespace tessera
