// Slices of groups of rows, a group being what one tile sends to one bin, or a bin: what each_slice gives row
// after row (kernels/slice_builder.hpp), for all at once.
#pragma once
#include <algorithm>
#include <array>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/cuda/build_memory.cuh"
#include "kernels/slice_builder.hpp"
#include "kernels/word_arrangement.hpp"

namespace tessera::cuda {

/// Rows of a group whose slices are made alike, longest first: joint ones, those 32 to a slice, those of
/// kShortWords words and of each number below, those of one element.
struct SliceClass {
  static constexpr std::uint32_t kCount = 3 + kShortWords;
  std::uint32_t index = 0;
  /// Elements of a row, at least.
  __host__ __device__ std::uint32_t least_length() const {
    if (index == 0) return kJointLength;
    if (index == 1) return 2 * kShortWords + 1;
    if (index + 2 >= kCount) return kCount - index;  // 2: both elements of one word, 1
    return 2 * (kCount - 1 - index) - 1;
  }
  __host__ __device__ std::uint32_t rows_of_slice() const {
    if (index == 0) return 1;
    return index == 1 ? kSliceLanes : index + 1 == kCount ? kSingleSliceRows : kShortSliceRows;
  }
  /// The slice of num_rows rows, the first of which has `length` elements: its shape alone.
  __host__ __device__ Slice shape(std::uint32_t num_rows, std::uint32_t length) const {
    Slice slice;
    if (index == 0) {
      slice.num_words = static_cast<std::uint16_t>((length + 2 * kSliceLanes - 1) / (2 * kSliceLanes));
      return slice;
    }
    if (index + 1 < kCount) slice.num_words = static_cast<std::uint16_t>((length + 1) / 2);
    slice.num_rows = static_cast<std::uint16_t>(num_rows);
    return slice;
  }
};

/// Of slices: words, and parts (ArrangedPart) of one, two, three and four words a lane.
struct SliceSizes {
  std::uint64_t words = 0;
  std::uint32_t parts[kArrangedWords] = {};

  __host__ __device__ static SliceSizes of(const Slice& s) {
    SliceSizes sizes{.words = aligned_words(s)};
    if (is_single(s)) return sizes;
    sizes.parts[kArrangedWords - 1] = blocks_of(s) * (s.num_words / kArrangedWords);
    const std::uint32_t left = s.num_words % kArrangedWords;
    for (std::uint32_t w = 1; w < kArrangedWords; ++w) sizes.parts[w - 1] = left == w ? blocks_of(s) : 0;
    return sizes;
  }
  __host__ __device__ SliceSizes operator+(const SliceSizes& other) const {
    SliceSizes sum{.words = words + other.words};
    for (std::uint32_t w = 0; w < kArrangedWords; ++w) sum.parts[w] = parts[w] + other.parts[w];
    return sum;
  }
  __host__ __device__ std::uint32_t all_parts() const {
    std::uint32_t sum = 0;
    for (const std::uint32_t of_words : parts) sum += of_words;
    return sum;
  }
};
/// Slices are aligned, so that they have four words at least for each of their parts, and 32 bits number the
/// parts of so many.
static_assert(kSliceAlignment % 4 == 0);
inline constexpr std::uint64_t kMostSliceWords = 4 * std::uint64_t{kNoVertex};

template <class Memory>
struct CutSlices {
  template <class T>
  using Vector = BuildVector<Memory, T>;
  Vector<Slice> slices;
  Vector<std::uint32_t> groups;      ///< of each slice
  Vector<std::uint32_t> first_rows;  ///< of each slice, in the list of all rows
  Vector<std::uint64_t> firsts;      ///< first slice of group g at g * SliceClass::kCount, and the end
  Vector<SliceSizes> before;         ///< of all slices before each, and of all
  SliceSizes sizes;                  ///< of all
};

struct NumberedSlice {
  Slice slice;
  std::uint32_t group, first_row;
};

/// Group g has the rows first[g] to first[g + 1] of a list, longest first, with lengths[i] elements; the sum
/// of its first row goes to out[g].
struct SliceGroups {
  std::uint64_t num_groups;
  const std::uint32_t* first;
  const std::uint16_t* lengths;
  const std::uint32_t* out;
};

/// What is indexed by group and class has the classes of a group together.
template <class Memory>
struct SliceCutter {
  static constexpr std::uint32_t kClasses = SliceClass::kCount;

  explicit SliceCutter(const SliceGroups& given) : of(given), class_ends(given.num_groups * kClasses) {}

  // Parents of device lambdas must be public.
  void end_classes() {
    const std::uint32_t* first_row = of.first;
    const std::uint16_t* length = of.lengths;
    std::uint32_t* class_end = class_ends.data();
    Memory::each(class_ends.size(), [=] __host__ __device__(std::uint64_t i) {
      const std::uint64_t g = i / kClasses;
      const std::uint32_t least = SliceClass{static_cast<std::uint32_t>(i % kClasses)}.least_length();
      std::uint32_t low = first_row[g], high = first_row[g + 1];  // the first shorter row
      while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (length[middle] >= least)
          low = middle + 1;
        else
          high = middle;
      }
      class_end[i] = low;
    });
  }

  /// A class of a group: its rows.
  struct ClassRows {
    const std::uint32_t *first, *ends;
    __host__ __device__ std::uint32_t begin(std::uint64_t i) const {
      return i % kClasses == 0 ? first[i / kClasses] : ends[i - 1];
    }
    __host__ __device__ std::uint32_t end(std::uint64_t i) const { return ends[i]; }
  };
  ClassRows class_rows() const { return {of.first, class_ends.data()}; }

  void count_slices() {
    result.firsts = Memory::template zeros<std::uint64_t>(class_ends.size() + 1);
    const ClassRows rows = class_rows();
    std::uint64_t* slice_first = result.firsts.data();
    Memory::each(class_ends.size(), [=] __host__ __device__(std::uint64_t i) {
      const std::uint32_t of_slice = SliceClass{static_cast<std::uint32_t>(i % kClasses)}.rows_of_slice();
      slice_first[i + 1] = (rows.end(i) - rows.begin(i) + of_slice - 1) / of_slice;
    });
    sum_up(result.firsts);
  }
  const std::uint64_t* num_slices_there() const { return result.firsts.data() + class_ends.size(); }

  void shape_slices(std::uint64_t num_slices) {
    result.slices = BuildVector<Memory, Slice>(num_slices);
    result.groups = BuildVector<Memory, std::uint32_t>(num_slices);
    result.first_rows = BuildVector<Memory, std::uint32_t>(num_slices);
    result.before = BuildVector<Memory, SliceSizes>(num_slices + 1);
    const ClassRows rows = class_rows();
    const std::uint64_t* slice_first = result.firsts.data();
    const std::uint32_t *group_first = of.first, *group_out = of.out;
    const std::uint16_t* length = of.lengths;
    Slice* slice = result.slices.data();
    std::uint32_t *group = result.groups.data(), *first_row = result.first_rows.data();
    SliceSizes* sizes = result.before.data();
    Memory::clear(sizes, sizeof *sizes);
    Memory::each_in_rows(
        result.firsts, num_slices,
        [=] __host__ __device__(std::uint64_t i, std::uint64_t s) -> NumberedSlice {
          const SliceClass kind{static_cast<std::uint32_t>(i % kClasses)};
          const std::uint64_t g = i / kClasses;
          const std::uint32_t most = kind.rows_of_slice(),
                              row = rows.begin(i) + static_cast<std::uint32_t>(s - slice_first[i]) * most,
                              left = rows.end(i) - row;
          Slice shape = kind.shape(left < most ? left : most, length[row]);
          shape.first_out = group_out[g] + (row - group_first[g]);
          return {shape, static_cast<std::uint32_t>(g), row};
        },
        [=] __host__ __device__(std::uint64_t s, const NumberedSlice& found) {
          slice[s] = found.slice;
          group[s] = found.group;
          first_row[s] = found.first_row;
          sizes[s + 1] = SliceSizes::of(found.slice);
        });
  }

  void place_words() {
    sum_up(result.before);
    Slice* slice = result.slices.data();
    const SliceSizes* before = result.before.data();
    Memory::each(result.slices.size(),
                 [=] __host__ __device__(std::uint64_t s) { slice[s].first_word = before[s].words; });
  }
  const SliceSizes* sizes_there() const { return result.before.data() + result.slices.size(); }

  SliceGroups of;
  BuildVector<Memory, std::uint32_t> class_ends;  ///< behind the last row of each
  CutSlices<Memory> result{};
};

/// Of two lists of groups at once: the host waits for each number that it reads.
template <class Memory>
std::array<CutSlices<Memory>, 2> cut_slices(const SliceGroups& a, const SliceGroups& b) {
  if (std::max(a.num_groups, b.num_groups) > kNoVertex / SliceClass::kCount)
    // Loops over rows number them in 32 bits.
    throw ResourceError("the matrix has too many tiles and bins to be cut at once; use more ranks");
  SliceCutter<Memory> cutters[] = {SliceCutter<Memory>(a), SliceCutter<Memory>(b)};
  for (auto& cutter : cutters) {
    cutter.end_classes();
    cutter.count_slices();
  }
  const auto num_slices = Memory::read_both(cutters[0].num_slices_there(), cutters[1].num_slices_there());
  for (std::size_t i = 0; i < 2; ++i) {
    cutters[i].shape_slices(num_slices[i]);
    cutters[i].place_words();
  }
  const auto sizes = Memory::read_both(cutters[0].sizes_there(), cutters[1].sizes_there());
  for (std::size_t i = 0; i < 2; ++i) {
    if (sizes[i].words > kMostSliceWords)
      throw ResourceError("the matrix needs more than 2^34 words; use more ranks");
    cutters[i].result.sizes = sizes[i];
  }
  return {std::move(cutters[0].result), std::move(cutters[1].result)};
}

}  // namespace tessera::cuda
