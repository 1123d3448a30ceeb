// Tile-composite in two streaming passes, as kernels see it ("tile-messages"): where the paper adds a tile's
// sums to y at once (3.1), here every sum of a row inside a tile is a message. Pass 1 multiplies tile by tile
// and writes the messages; they lie bin by bin, a bin being some rows. Pass 2 adds the messages of every row.
// Both passes are the same operation: a window of the input vector (a tile's part of x, a bin's messages) is
// small enough for the fastest memory, and slices of rows list what to add by 16-bit offsets into
// it. No sum is added to by two slices, so nothing is atomic and the bits never change.
//
// Messages are rounded to S, and so are sums of two elements of an unweighted matrix and of two messages; all
// else is added in double. The value of a row follows from the row and the tiles' borders alone, not from
// bins, ranks or devices.
#pragma once
#include "kernels/base/host_device.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

/// Threads of a warp: rows of a slice, and accumulator pairs of a long row.
inline constexpr std::uint32_t kSliceLanes = 32;
/// From this many elements a row has a slice of its own.
inline constexpr std::uint32_t kJointLength = 128;
/// Rows of up to kShortWords words (pairs of elements) lie in slices of one width, kShortSliceRows at most;
/// longer rows 32 to a slice, as wide as the longest. Two rows of one element share a word.
inline constexpr std::uint32_t kShortWords = 4, kShortSliceRows = 256, kSingleSliceRows = 512;
/// So many words of a lane are added as a tree of pairs, then trees in order.
inline constexpr std::uint32_t kTreeWords = 4;
/// Elements of one message; longer pieces send several. Doubled for rows of very many pieces.
inline constexpr std::uint32_t kMessageElements = 1024;
/// A row sends at most so many messages beyond one a tile.
inline constexpr std::uint32_t kMostExtraMessages = 8192;
/// Elements a message of this row may have.
TESSERA_HD inline std::uint32_t elements_of_message(std::uint64_t row_length) {
  std::uint32_t elements = kMessageElements;
  while (row_length / elements > kMostExtraMessages && elements < 32768) elements *= 2;
  return elements;
}
/// Messages of a bin start at a multiple of this.
inline constexpr std::uint32_t kBinAlignment = 32;
TESSERA_HD constexpr std::uint32_t aligned_bin_size(std::uint32_t num_messages) {
  return round_up(num_messages, kBinAlignment);
}

/// Part of the input vector; offsets are relative to first_in, and offset `size` stands for 0 (padding).
struct Window {
  std::uint64_t first_in = 0;
  std::uint64_t first_slice = 0;
  std::uint32_t size = 0;
};

/// A window may lie in several parts of the input vector, one after the other in the window, each from a
/// multiple of kPartAlignment on. Then first_in says nothing.
struct WindowPart {
  std::uint64_t first_in = 0;
  std::uint32_t size = 0;
};
inline constexpr std::uint32_t kPartAlignment = 4;
TESSERA_HD constexpr std::uint32_t aligned_part_size(std::uint32_t size) {
  return round_up(size, kPartAlignment);
}

/// One warp's task. A word is two 16-bit offsets of a row.
///  - num_rows rows, a thread each. The two products of a word are added first (in S where all values are 1,
///    else in double), then, in double, the words k and k + 1 of four, these two sums, and the sums of four
///    words after the other. Of three the first two are added first.
///  - num_rows == 0: one joint row of kJointLength elements or more; lane l takes the words l, l + 32, ...
///    likewise; the 32 sums are added as a tree of pairs: lanes 0 and 1, then 0 and 2, ...
///  - num_words == 0: rows of one element. In a block of 64 of them (the last maybe smaller) the lower halves
///    of its words are the first rows, the upper halves the others.
struct Slice {
  std::uint64_t first_word = 0;
  std::uint32_t first_out = 0;  ///< the sum of row r goes to message, or entry of the product, first_out + r
  std::uint16_t num_words = 0;  ///< of a row; of a lane of a joint row
  std::uint16_t num_rows = 0;
};
TESSERA_HD inline bool is_joint(const Slice& s) { return s.num_rows == 0; }
TESSERA_HD inline bool is_single(const Slice& s) { return s.num_words == 0; }
TESSERA_HD inline std::uint32_t rows_of(const Slice& s) { return is_joint(s) ? 1u : s.num_rows; }
/// Elements of a row, padding included.
TESSERA_HD inline std::uint32_t elements_of(const Slice& s) {
  return is_single(s) ? 1u : 2u * s.num_words * (is_joint(s) ? kSliceLanes : 1u);
}

TESSERA_HD inline std::uint32_t words_of(const Slice& s) {
  if (is_single(s)) return (s.num_rows + 1u) / 2;
  return s.num_words * (is_joint(s) ? kSliceLanes : std::uint32_t{s.num_rows});
}

/// Position of word `word` of row `row` of a slice that is not single. The layout formula, written once:
/// blocks of 32 rows, the last maybe smaller, follow each other; in a block the first words of all rows lie
/// side by side, then their second, ...
TESSERA_HD inline std::uint64_t slice_word(const Slice& s, std::uint32_t row, std::uint32_t word) {
  if (is_joint(s)) return s.first_word + word;
  const std::uint32_t first_row = row / kSliceLanes * kSliceLanes, left = s.num_rows - first_row;
  const std::uint32_t height = left < kSliceLanes ? left : kSliceLanes;
  return s.first_word + std::uint64_t{first_row} * s.num_words + word * height + row - first_row;
}
/// Rows of a block, whose words lie together: but for the last block all have so many.
TESSERA_HD inline std::uint32_t rows_of_block(const Slice& s) {
  return is_single(s) ? 2 * kSliceLanes : kSliceLanes;
}
TESSERA_HD inline std::uint32_t blocks_of(const Slice& s) {
  return is_joint(s) ? 1u : (s.num_rows + rows_of_block(s) - 1) / rows_of_block(s);
}
TESSERA_HD inline std::uint32_t words_of_block(const Slice& s) {
  return kSliceLanes * (is_single(s) ? 1u : s.num_words);
}
/// Blocks [first, end) of a slice that is not joint, which are a slice of their own.
TESSERA_HD inline Slice blocks_of_slice(const Slice& s, std::uint32_t first, std::uint32_t end) {
  const std::uint32_t begin_row = first * rows_of_block(s), end_row = end * rows_of_block(s);
  Slice part = s;
  part.first_word += first * words_of_block(s);
  part.first_out += begin_row;
  part.num_rows = static_cast<std::uint16_t>((end_row < s.num_rows ? end_row : s.num_rows) - begin_row);
  return part;
}
/// Half a word: 0 is the lower.
struct ElementPlace {
  std::uint64_t word = 0;
  std::uint32_t half = 0;
};
/// Where element k of a row lies.
TESSERA_HD inline ElementPlace element_place(const Slice& s, std::uint32_t row, std::uint32_t k) {
  if (!is_single(s)) return {slice_word(s, row, k / 2), k % 2};
  const std::uint32_t first_row = row / rows_of_block(s) * rows_of_block(s), left = s.num_rows - first_row;
  const std::uint32_t height = left < rows_of_block(s) ? (left + 1) / 2 : kSliceLanes, r = row - first_row;
  return {s.first_word + first_row / 2 + r % height, r / height};
}
/// The element at a place among the slice's words, as element_place puts it there; its row is past the last,
/// or its k past the row's length, where the place is padding until words are arranged
/// (word_arrangement.hpp).
struct SliceElement {
  std::uint32_t row = 0, k = 0;
};
TESSERA_HD inline SliceElement element_at(const Slice& s, const ElementPlace& place) {
  const auto word = static_cast<std::uint32_t>(place.word - s.first_word);
  if (is_joint(s)) return {0, 2 * word + place.half};
  const std::uint32_t first_row = word / words_of_block(s) * rows_of_block(s), left = s.num_rows - first_row;
  if (is_single(s)) {
    const std::uint32_t height = left < rows_of_block(s) ? (left + 1) / 2 : kSliceLanes;
    return {first_row + word % kSliceLanes + place.half * height, 0};
  }
  const std::uint32_t height = left < kSliceLanes ? left : kSliceLanes,
                      within = word - first_row * s.num_words;
  return {first_row + within % height, 2 * (within / height) + place.half};
}
TESSERA_HD inline std::uint32_t offset_at(const std::uint32_t* words, const ElementPlace& place) {
  return words[place.word] >> 16 * place.half & 0xffffu;
}

/// Pass 1: windows are tiles. Pass 2: windows are bins.
template <class S>
struct SlicePassView {
  const Window* windows = nullptr;  ///< num_windows and one more: first_slice of it ends the list
  std::uint64_t num_windows = 0;
  const Slice* slices = nullptr;
  const std::uint32_t* words = nullptr;
  const S* values = nullptr;          ///< two a word; null when all are 1 (always in pass 2)
  const WindowPart* parts = nullptr;  ///< num_parts a window; null when every window is one piece
  std::uint32_t num_parts = 1;
};

/// Where offset `offset` of window `window` lies in the input vector.
template <class S>
TESSERA_HD inline std::uint64_t input_index(const SlicePassView<S>& pass, std::uint64_t window,
                                            std::uint32_t offset) {
  if (pass.parts == nullptr) return pass.windows[window].first_in + offset;
  const WindowPart* part = pass.parts + window * pass.num_parts;
  for (;; ++part) {
    const std::uint32_t length = aligned_part_size(part->size);
    if (offset < length) return part->first_in + offset;
    offset -= length;
  }
}

template <class S>
struct TileMessagesView {
  std::uint64_t num_rows = 0;
  std::uint64_t num_slots = 0;     ///< length of x
  std::uint64_t num_messages = 0;  ///< with the gaps that alignment leaves
  std::uint64_t num_products = 0;  ///< rows that have messages: entries of the product
  /// Where each row is in the product (the rows of a bin lie together, in the order of its slices, so that
  /// sums are written side by side); kNoVertex: the row has no elements.
  const VertexId* row_positions = nullptr;
  /// Bins ascend in rows as in entries of the product, and each has messages, of which every one is read by
  /// one row. Element 0 of a row is a message, never padding.
  SlicePassView<S> tiles, bins;
};

}  // namespace tessera
