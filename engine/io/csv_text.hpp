// Quoting of labels in text output (RFC 4180): a field that holds the delimiter, a quote or a line break is
// put in double quotes, quotes inside are doubled. Everything else is written byte for byte, also a leading
// = + - or @ that spreadsheets take for a formula: names must come back as they went in.
#pragma once
#include <string>
#include <string_view>

namespace tessera {

/// `delimiter` is ',' or '\t'. Besides what the RFC names, a field is quoted that a reader could take for
/// something else: empty, with white space at an end, or starting like a comment (#, %, //).
void append_field(std::string& out, std::string_view text, char delimiter);

}  // namespace tessera
