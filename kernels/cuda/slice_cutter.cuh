// Slices of groups of rows, a group being what one tile sends to one bin, or a bin: what each_slice gives row
// after row (kernels/slice_builder.hpp), for all at once.
#pragma once
#include <array>

#include "kernels/base/error.hpp"
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/running_sums.cuh"
#include "kernels/cuda/slice_places.cuh"
#include "kernels/slice_builder.hpp"

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

/// Group g has the rows first[g] to first[g + 1] of a list, longest first, with lengths[i] elements; the sum
/// of its first row goes to out[g]. Window w has groups_of_window groups, one at least, and behind all is one
/// of none.
struct SliceGroups {
  std::uint64_t num_groups, groups_of_window;
  std::uint64_t num_rows, num_elements;  ///< of all groups, or more
  const std::uint32_t* first;
  const std::uint16_t* lengths;
  const std::uint32_t* out;
  Window* windows;  ///< their first slices are set

  __host__ __device__ std::uint64_t num_classes() const { return num_groups * SliceClass::kCount; }
  /// Slices of all groups, or more: a class has one that is not full, joint rows one each, and those of a
  /// full slice of 32 rows more elements than a joint one. All others have kShortSliceRows at least.
  std::uint64_t most_slices() const {
    static_assert((2 * kShortWords + 1) * kSliceLanes >= kJointLength && kSingleSliceRows >= kShortSliceRows);
    const std::uint64_t most = num_classes() + num_elements / kJointLength + num_rows / kShortSliceRows;
    return most < num_rows ? most : num_rows;
  }
  std::uint64_t num_windows() const { return num_groups / groups_of_window + 1; }
  __host__ __device__ std::uint64_t first_class(std::uint64_t window) const {
    return window * groups_of_window * SliceClass::kCount;
  }

  /// Behind the last of a group's rows of this class.
  __host__ __device__ std::uint32_t end_of_class(std::uint32_t group, SliceClass kind) const {
    const std::uint32_t least = kind.least_length();
    std::uint32_t low = first[group], high = first[group + 1];  // the first shorter row
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (lengths[middle] >= least)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

/// A class of a group of one of two lists.
struct ClassOfGroup {
  bool is_of_a;
  std::uint32_t group;
  SliceClass kind;
};

/// The rows of all classes of groups of two lists, fewer than 2^32: those of a group together, group after
/// group, list b behind list a.
struct ClassRows {
  SliceGroups a, b;
  std::uint32_t* ends;  ///< behind the last row of each

  __host__ __device__ std::uint64_t count() const { return a.num_classes() + b.num_classes(); }
  /// A copy, so that a device need not keep both lists in memory.
  __host__ __device__ SliceGroups list_of(const ClassOfGroup& of) const { return of.is_of_a ? a : b; }
  __host__ __device__ ClassOfGroup at(std::uint32_t i) const {
    const auto of_a = static_cast<std::uint32_t>(a.num_classes());
    const std::uint32_t own = i < of_a ? i : i - of_a;
    return {i < of_a, own / SliceClass::kCount, SliceClass{own % SliceClass::kCount}};
  }
  __host__ __device__ std::uint32_t begin(std::uint32_t i, const ClassOfGroup& of) const {
    return of.kind.index == 0 ? list_of(of).first[of.group] : ends[i - 1];
  }
  __host__ __device__ std::uint32_t find_end(std::uint32_t i) const {
    const ClassOfGroup of = at(i);
    return list_of(of).end_of_class(of.group, of.kind);
  }
  __host__ __device__ std::uint64_t num_slices(std::uint32_t i) const {
    const ClassOfGroup of = at(i);
    const std::uint32_t most = of.kind.rows_of_slice();
    return (ends[i] - begin(i, of) + most - 1) / most;
  }
  /// Slice number `number` of class i: its shape and where its first row's sum goes.
  __host__ __device__ NumberedSlice slice(std::uint32_t i, std::uint32_t number) const {
    const ClassOfGroup of = at(i);
    const SliceGroups list = list_of(of);
    const std::uint32_t most = of.kind.rows_of_slice(), row = begin(i, of) + number * most,
                        left = ends[i] - row;
    Slice shape = of.kind.shape(left < most ? left : most, list.lengths[row]);
    shape.first_out = list.out[of.group] + (row - list.first[of.group]);
    return {shape, of.group, row};
  }
};

// What loops over classes, slices and windows do. Of functors instead of lambdas, so that they may be used in
// more than one translation unit (device_builds.cu).
struct FindClassEnds {
  ClassRows rows;
  __host__ __device__ void operator()(std::uint64_t i) const {
    rows.ends[i] = rows.find_end(static_cast<std::uint32_t>(i));
  }
};
struct CountSlices {
  ClassRows rows;
  std::uint64_t* counts;  ///< behind a 0
  __host__ __device__ void operator()(std::uint64_t i) const {
    counts[i] = i == 0 ? 0 : rows.num_slices(static_cast<std::uint32_t>(i - 1));
  }
};
struct ShapeSlice {
  ClassRows rows;
  const std::uint64_t* firsts;  ///< slices of all classes before each
  __host__ __device__ NumberedSlice operator()(std::uint64_t i, std::uint64_t s) const {
    return rows.slice(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(s - firsts[i]));
  }
};
struct StoreSlice {
  ShapedSlices a, b;
  const std::uint64_t* num_before;  ///< slices of list a
  __host__ __device__ void operator()(std::uint64_t s, const NumberedSlice& found) const {
    if (s < *num_before)
      a.store(s, found);
    else
      b.store(s - *num_before, found);
  }
};
struct BeginWindow {
  ClassRows rows;
  const std::uint64_t* firsts;  ///< slices of all classes before each
  std::uint64_t of_a;           ///< windows
  __host__ __device__ void operator()(std::uint64_t w) const {
    if (w < of_a)
      rows.a.windows[w].first_slice = firsts[rows.a.first_class(w)];
    else
      rows.b.windows[w - of_a].first_slice =
          firsts[rows.a.num_classes() + rows.b.first_class(w - of_a)] - firsts[rows.a.num_classes()];
  }
};

/// Of two lists of groups at once, so that the host waits for what they come to once.
template <class Memory>
class SliceCutter {
 public:
  template <class T>
  using Vector = BuildVector<Memory, T>;

  /// Each list has a window at least.
  SliceCutter(const SliceGroups& a, const SliceGroups& b, SideStream<Memory>& side)
      : side_(side), ends_(a.num_classes() + b.num_classes()), rows_{a, b, ends_.data()} {
    if (rows_.count() >= kNoVertex)  // loops over rows number classes in 32 bits
      throw ResourceError("the matrix has too many tiles and bins to be cut at once; use more ranks");
  }

  std::array<CutSlices<Memory>, 2> cut() {
    count_slices();
    const std::uint64_t* const num_first = firsts_.data() + rows_.a.num_classes();
    const std::uint64_t* const num_all = firsts_.data() + rows_.count();
    std::array<std::uint64_t, 2> room{rows_.a.most_slices(), rows_.b.most_slices()};
    const bool is_large = room[0] + room[1] > kMostUnread;
    if (is_large) {
      const auto [first, all] = Memory::read_both(num_first, num_all);
      room = {first, all - first};
    }
    std::array<CutSlices<Memory>, 2> cut{CutSlices<Memory>(room[0]), CutSlices<Memory>(room[1])};
    shape_slices(cut);
    ends_ = {};
    if (is_large) begin_windows();
    place_slices<Memory>(cut, num_first, num_all, side_);
    if (is_large) firsts_ = {};
    return cut;
  }

  /// After cut(): tells windows where their slices begin, if they do not know yet. stream: beside the default
  /// one.
  void begin_windows(cudaStream_t stream = nullptr) {
    if (firsts_.empty()) return;
    const std::uint64_t of_a = rows_.a.num_windows();
    Memory::each(of_a + rows_.b.num_windows(), BeginWindow{rows_, firsts_.data(), of_a}, stream);
  }

 private:
  /// firsts_: slices of all classes before each, and of all.
  void count_slices() {
    firsts_ = Vector<std::uint64_t>(rows_.count() + 1);
    Memory::each(rows_.count(), FindClassEnds{rows_});
    Memory::each(firsts_.size(), CountSlices{rows_, firsts_.data()});
    sum_up(firsts_);
  }

  void shape_slices(std::array<CutSlices<Memory>, 2>& cut) {
    const std::uint64_t* const first = firsts_.data();
    Memory::each_in_rows(firsts_, cut[0].slices.size() + cut[1].slices.size(), ShapeSlice{rows_, first},
                         StoreSlice{cut[0].shaped(), cut[1].shaped(), first + rows_.a.num_classes()});
  }

  /// Slices for which room is asked for before it is known how many there are, 40 bytes each.
  static constexpr std::uint64_t kMostUnread = std::uint64_t{1} << 20;

  SideStream<Memory>& side_;
  Vector<std::uint32_t> ends_;
  ClassRows rows_;
  Vector<std::uint64_t> firsts_;
};

}  // namespace tessera::cuda
