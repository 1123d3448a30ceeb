// Pieces of the user's file in error messages: quoted, control bytes escaped, cut to a readable length.
#pragma once
#include <string>
#include <string_view>

namespace tessera {

/// `"text"` with control bytes as \xHH and at most 60 bytes of it.
std::string quoted_text(std::string_view text);

}  // namespace tessera
