// Slices of groups of rows, a group being what one tile sends to one bin, or a bin.
#pragma once
#include "kernels/cuda/build_memory.cuh"
#include "kernels/slice_builder.hpp"

namespace tessera::cuda {

template <class Memory>
struct CutSlices {
  template <class T>
  using Vector = BuildVector<Memory, T>;
  Vector<Slice> slices;
  Vector<std::uint32_t> groups;      ///< of each slice
  Vector<std::uint32_t> first_rows;  ///< of each slice, in the list of all rows
  Vector<std::uint32_t> slice_of;    ///< of each row of the list
  Vector<std::uint64_t> firsts;      ///< first slice of each group, and the end
  std::uint64_t num_words = 0;
};

/// Group g has the rows first[g] to first[g + 1] of a list of num_rows, longest first, with lengths[i]
/// elements; the sum of its first row goes to out[g].
template <class Memory>
CutSlices<Memory> cut_slices(std::uint64_t num_groups, std::uint64_t num_rows, const std::uint32_t* first,
                             const std::uint16_t* lengths, const std::uint32_t* out) {
  CutSlices<Memory> result;
  result.firsts = Memory::template zeros<std::uint64_t>(num_groups + 1);
  auto words = Memory::template zeros<std::uint64_t>(num_groups + 1);
  std::uint64_t *slices_before = result.firsts.data(), *words_before = words.data();
  Memory::each(num_groups, [=] __host__ __device__(std::uint64_t g) {
    const std::uint16_t* length = lengths + first[g];
    std::uint64_t num_words = 0, count = 0;
    each_slice(
        first[g + 1] - first[g], [=](std::uint64_t i) { return length[i]; }, 0, num_words,
        [&](const Slice&, std::uint64_t) { ++count; });
    slices_before[g + 1] = count;
    words_before[g + 1] = num_words;
  });
  sum_up(result.firsts);
  sum_up(words);
  const std::uint64_t num_slices = Memory::read(slices_before + num_groups);
  result.num_words = Memory::read(words_before + num_groups);
  result.slices = BuildVector<Memory, Slice>(num_slices);
  result.groups = BuildVector<Memory, std::uint32_t>(num_slices);
  result.first_rows = BuildVector<Memory, std::uint32_t>(num_slices);
  result.slice_of = Memory::template zeros<std::uint32_t>(num_rows);
  Slice* slice = result.slices.data();
  std::uint32_t *group = result.groups.data(), *first_row = result.first_rows.data(),
                *of_row = result.slice_of.data();
  Memory::each(num_groups, [=] __host__ __device__(std::uint64_t g) {
    const std::uint16_t* length = lengths + first[g];
    std::uint64_t num_words = words_before[g], next = slices_before[g];
    each_slice(
        first[g + 1] - first[g], [=](std::uint64_t i) { return length[i]; }, out[g], num_words,
        [&](const Slice& s, std::uint64_t row) {
          group[next] = static_cast<std::uint32_t>(g);
          first_row[next] = first[g] + static_cast<std::uint32_t>(row);
          of_row[first_row[next]] = static_cast<std::uint32_t>(next);
          slice[next++] = s;
        });
  });
  raise(result.slice_of);
  return result;
}

}  // namespace tessera::cuda
