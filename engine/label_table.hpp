// The user's names of vertices. Vertex ids are given in label order (integers by value, strings by their
// bytes), so that "ties by label" is "ties by id". Each rank holds the labels of one contiguous block of
// ids; with one rank the block is everything.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/base/buffer.hpp"

namespace tessera {

enum class LabelKind : std::uint32_t {
  range = 0,    ///< label = first_label + id (formats that declare a size, such as Matrix Market)
  integer = 1,  ///< 64-bit unsigned integers
  string = 2,   ///< arbitrary bytes
};

/// Labels of the ids [first_id, first_id + size()).
struct LabelTable {
  LabelKind kind = LabelKind::range;
  std::uint64_t first_label = 0;  // kind range: label of id 0 of the whole graph
  VertexId first_id = 0;
  std::uint64_t count = 0;               // labels held here
  Buffer<std::uint64_t> integers;        // kind integer: ascending
  Buffer<std::uint64_t> string_offsets;  // kind string: count + 1 positions in string_bytes
  Buffer<char> string_bytes;             // kind string: ascending by bytes

  std::uint64_t size() const { return count; }
  /// The label of global id `id`, which must be held here, as text.
  std::string text(VertexId id) const;
  /// Global id of the label written `text`, or kNoVertex when it is not held here. An integer label is
  /// found only by its canonical text (no sign, no leading zeros).
  VertexId find(std::string_view text) const;
};

/// The canonical unsigned 64-bit integer that `text` is, if it is one ("007", "+7", "-1" and 2^64 are not).
bool parse_canonical_integer(std::string_view text, std::uint64_t& value);

}  // namespace tessera
