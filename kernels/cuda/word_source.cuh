// What the words of slices are filled from.
#pragma once
#include "kernels/cuda/element_positions.cuh"
#include "kernels/cuda/slice_cutter.cuh"
#include "kernels/cuda/tile_elements.cuh"
#include "kernels/word_arrangement.hpp"

namespace tessera::cuda {

/// Where the elements of a row begin, and how many they are.
struct ListedRow {
  std::uint64_t begin;
  std::uint32_t length;
};

/// A part, where its slice's rows begin in the list of all, and the offset that stands for 0.
struct PaddedPart {
  ArrangedPart part;
  std::uint32_t list_row = 0, padding = 0;
};

/// Part `part` of a slice.
struct NumberedPart {
  std::uint32_t slice, part;
};

/// offsets, and values where there are any: of all elements. row_of(i): row i of the list. padding_of(slice):
/// the offset that stands for 0.
template <class S, class RowOf, class PaddingOf>
struct WordSource {
  const Slice* slices;
  const std::uint32_t* first_rows;
  const std::uint16_t* offsets;
  const S* values;
  RowOf row_of;
  PaddingOf padding_of;

  __host__ __device__ PaddedPart part(const NumberedPart& of) const {
    return {ArrangedPart::of(slices[of.slice], of.part), first_rows[of.slice], padding_of(of.slice)};
  }
  /// Element k of a row; padding where it has none.
  __host__ __device__ std::uint32_t offset(const ListedRow& row, std::uint32_t k,
                                           std::uint32_t padding) const {
    return k < row.length ? offsets[row.begin + k] : padding;
  }
};

/// The rows of tiles' slices: sorted messages.
struct MessageRows {
  PositionsLoad begins;
  const std::uint16_t* lengths;
  __host__ __device__ ListedRow operator()(std::uint32_t i) const { return {begins.load(i), lengths[i]}; }
};
/// Those of bins' slices: ranked rows, whose elements are places of their messages.
struct RankedRowsView {
  const std::uint32_t* begins;
  const std::uint16_t* counts;
  __host__ __device__ ListedRow operator()(std::uint32_t i) const { return {begins[i], counts[i]}; }
};

/// The zero slot behind the window of a slice's group; windows have num_groups each.
struct PaddingOfWindows {
  const Window* windows;
  const std::uint32_t* groups;
  std::uint32_t num_groups;
  __host__ __device__ std::uint32_t operator()(std::uint64_t slice) const {
    return windows[groups[slice] / num_groups].size;
  }
};

}  // namespace tessera::cuda
