// Banner and size line of Matrix Market files: lenient about case, one or two %, CRLF, blank lines and
// comments; strict about everything that decides meaning or size. For graphs (format_probe) and for general
// matrices (matrix_reader).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/graph_options.hpp"
#include "engine/io/text_format.hpp"
#include "engine/io/text_head.hpp"

namespace tessera {

/// Whether a line means to be the banner (it may still be a bad one).
bool is_matrix_market_banner(std::string_view line);

/// Whether a comment line behind the banner is another one. Narrower: comments may speak of matrices.
bool repeats_matrix_market_banner(std::string_view line);
inline constexpr std::string_view kSecondBanner = "a second Matrix Market banner; one file holds one matrix";

struct MatrixMarketBanner {
  std::string field;       ///< lower case: pattern, real, double, integer or unsigned-integer
  std::string symmetry;    ///< lower case: general, symmetric or skew-symmetric
  std::uint64_t line = 0;  ///< its number
  bool has_values() const { return field != "pattern"; }
};
/// Reads the banner, the first line that is not blank. InputError for what is not read (array, complex,
/// hermitian).
MatrixMarketBanner read_matrix_market_banner(const TextHead& head, HeadLines& lines);

struct MatrixMarketSizes {
  std::uint64_t num_rows = 0, num_cols = 0;
  std::uint64_t num_entries = 0;  ///< lines of the body
  std::uint64_t line = 0;         ///< number of the size line
  std::uint64_t body_offset = 0;  ///< first byte after it
};
/// Reads on from the banner to the size line. InputError for sizes that are not numbers, too many rows or
/// columns, not square where that must be, or more entries than the text can hold.
MatrixMarketSizes read_matrix_market_sizes(const TextHead& head, const MatrixMarketBanner& banner,
                                           bool must_be_square, HeadLines& lines);

/// InputError when the size line of `name` states another number of entries than the body has.
void check_matrix_market_entries(const std::string& name, std::uint64_t size_line, std::uint64_t stated,
                                 std::uint64_t found);

/// Reads banner and size line of a matrix that is a graph: InputError also when it is not square, and for
/// values that cannot be weights.
TextFormat read_matrix_market_header(const TextHead& head, const GraphOptions& options);

}  // namespace tessera
