// Puts rows that are sorted by length into slices (kernels/tile_messages_view.hpp). Both passes of the
// tile-messages form are built with it, on the host and on a device.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/tile_messages_view.hpp"

namespace tessera {

/// Slices start at a multiple of this many words (32 bytes, what a device reads at once).
inline constexpr std::uint64_t kSliceAlignment = 8;

TESSERA_HD inline std::uint64_t aligned_words(const Slice& s) {
  return (words_of(s) + kSliceAlignment - 1) / kSliceAlignment * kSliceAlignment;
}

/// The slice at the head of `num_rows` rows, longest first: its shape alone.
template <class LengthOf>
TESSERA_HD Slice next_slice(std::uint64_t num_rows, const LengthOf& length_of) {
  const std::uint64_t longest = length_of(0);
  if (longest == 1)
    return {.num_rows =
                static_cast<std::uint16_t>(num_rows < kSingleSliceRows ? num_rows : kSingleSliceRows)};
  if (longest >= kJointLength)
    return {.num_words = static_cast<std::uint16_t>((longest + 2 * kSliceLanes - 1) / (2 * kSliceLanes))};
  const std::uint64_t words = (longest + 1) / 2;
  const bool is_short = words <= kShortWords;
  const std::uint64_t least = is_short ? words : kShortWords + 1;  // of the rows that may join
  const std::uint64_t limit = is_short ? kShortSliceRows : kSliceLanes;
  const std::uint64_t most = limit < num_rows ? limit : num_rows;
  const auto joins = [&](std::uint64_t row) {
    const std::uint64_t length = length_of(row);
    return (length + 1) / 2 >= least && length > 1;
  };
  // Lengths fall, so the end can be searched for; most slices are full.
  std::uint64_t rows = most, low = 1;
  if (!joins(most - 1))
    for (rows = most - 1; low < rows;) {
      const std::uint64_t middle = (low + rows) / 2;
      if (joins(middle))
        low = middle + 1;
      else
        rows = middle;
    }
  return {.num_words = static_cast<std::uint16_t>(words), .num_rows = static_cast<std::uint16_t>(rows)};
}

/// Calls take(slice, first row) for the slices of `num_rows` rows, longest first; the first row's sum goes to
/// first_out. length_of(i): elements of row i, from 1 to 65,535. num_words: where the next slice starts;
/// grows.
template <class LengthOf, class Take>
TESSERA_HD void each_slice(std::uint64_t num_rows, const LengthOf& length_of, std::uint64_t first_out,
                           std::uint64_t& num_words, const Take& take) {
  for (std::uint64_t row = 0; row < num_rows;) {
    Slice slice = next_slice(num_rows - row, [&](std::uint64_t i) { return length_of(row + i); });
    slice.first_word = num_words;
    slice.first_out = static_cast<std::uint32_t>(first_out + row);
    num_words += aligned_words(slice);
    take(slice, row);
    row += rows_of(slice);
  }
}

/// Rows that share a word may be filled at the same time.
TESSERA_HD inline void put_offset(std::uint32_t* words, const ElementPlace& place, std::uint16_t offset) {
  memcpy(reinterpret_cast<unsigned char*>(words + place.word) + 2 * place.half, &offset, sizeof offset);
}

/// The words of row `row` of a slice, padding included; element_of(k): its k-th offset.
template <class ElementOf>
TESSERA_HD void fill_slice_row(const Slice& slice, std::uint32_t row, std::uint64_t length,
                               std::uint32_t padding, const ElementOf& element_of, std::uint32_t* words) {
  if (is_single(slice)) {
    const ElementPlace place = element_place(slice, row, 0);
    put_offset(words, place, static_cast<std::uint16_t>(element_of(0)));
    const bool alone = place.half == 0 && place.word + 1 == slice.first_word + words_of(slice);
    if (alone && slice.num_rows % 2 == 1)
      put_offset(words, {place.word, 1}, static_cast<std::uint16_t>(padding));
    return;
  }
  const std::uint32_t num_words = elements_of(slice) / 2;
  const auto offset = [&](std::uint32_t k) { return k < length ? std::uint32_t{element_of(k)} : padding; };
  for (std::uint32_t i = 0; i < num_words; ++i)
    words[slice_word(slice, row, i)] = offset(2 * i) | offset(2 * i + 1) << 16;
}

/// What alignment leaves behind a slice.
inline void fill_slice_gap(const Slice& slice, std::uint32_t* words) {
  std::fill(words + slice.first_word + words_of(slice), words + slice.first_word + aligned_words(slice), 0u);
}

}  // namespace tessera
