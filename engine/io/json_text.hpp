// JSON strings from labels, which may be any bytes; the output is valid UTF-8 always.
#pragma once
#include <string>
#include <string_view>

namespace tessera {

/// `text` in double quotes, escaped by RFC 8259; each byte that is not UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace tessera
