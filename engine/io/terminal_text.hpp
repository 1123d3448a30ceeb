// Text from outside made harmless for terminals: labels and file names cannot move the cursor, change
// colours or reorder what is shown.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

/// `text` with control bytes (C0, DEL, C1), invalid UTF-8, and the marks that change writing direction or
/// take no room replaced by \xNN, one for each byte.
std::string escape_for_terminal(std::string_view text);

/// Characters (code points) of valid UTF-8 text; a fair measure of its width.
std::size_t count_characters(std::string_view text);

/// escape_for_terminal, cut to at most `max_characters` with "..." at the end of what was cut.
std::string terminal_cell(std::string_view text, std::size_t max_characters);

}  // namespace tessera
