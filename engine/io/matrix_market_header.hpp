// Banner and size line of Matrix Market files: lenient about case, one or two %, CRLF, blank lines and
// comments; strict about everything that decides meaning or size.
#pragma once
#include <string_view>

#include "engine/graph_options.hpp"
#include "engine/io/text_format.hpp"
#include "engine/io/text_head.hpp"

namespace tessera {

/// Whether a line means to be the banner (it may still be a bad one).
bool is_matrix_market_banner(std::string_view line);
/// Reads banner and size line. InputError for what is not read (array, complex, hermitian), for sizes that
/// are not numbers, not square, or more than the text can hold.
TextFormat read_matrix_market_header(const TextHead& head, const GraphOptions& options);

}  // namespace tessera
