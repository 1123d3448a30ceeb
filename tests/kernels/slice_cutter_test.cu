// Slices of two lists of groups that are cut at once, in host memory (and on a device where one answers),
// against slices cut one after the other.
#include "kernels/cuda/slice_cutter.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

/// Rows of groups, longest first.
struct Groups {
  std::uint32_t groups_of_window = 1;
  std::vector<std::uint32_t> firsts{0}, out;
  std::vector<std::uint16_t> lengths;

  void add(std::vector<std::uint16_t> rows, std::mt19937& random) {
    std::sort(rows.begin(), rows.end(), std::greater<>());
    lengths.insert(lengths.end(), rows.begin(), rows.end());
    firsts.push_back(static_cast<std::uint32_t>(lengths.size()));
    out.push_back(random() % 1000000);
  }
  std::size_t count() const { return out.size(); }
};

struct LengthsFrom {
  const std::uint16_t* first;
  __host__ __device__ std::uint16_t operator()(std::uint64_t i) const { return first[i]; }
};

struct Cut {
  std::vector<Slice> slices;
  std::vector<std::uint32_t> groups, first_rows;
  std::vector<PartsBefore> parts_before;
  std::vector<std::uint64_t> window_slices;
  SliceSizes sizes;
};

Cut cut_one_by_one(const Groups& groups) {
  Cut cut;
  for (std::uint32_t g = 0; g < groups.count(); ++g) {
    if (g % groups.groups_of_window == 0) cut.window_slices.push_back(cut.slices.size());
    for (std::uint32_t row = groups.firsts[g]; row < groups.firsts[g + 1];) {
      Slice slice = next_slice(groups.firsts[g + 1] - row, LengthsFrom{groups.lengths.data() + row});
      slice.first_word = cut.sizes.words;
      slice.first_out = groups.out[g] + (row - groups.firsts[g]);
      cut.slices.push_back(slice);
      cut.groups.push_back(g);
      cut.first_rows.push_back(row);
      const auto& counts = cut.sizes.parts.of_kind;
      const auto kind_of = [&](std::uint32_t p) -> std::uint32_t {
        const ArrangedPart part = ArrangedPart::of(slice, p);
        return part.is_joint ? kJointParts : part.num_words - 1;
      };
      const std::uint32_t num_parts = num_arranged_parts(slice),
                          whole = is_joint(slice) ? kJointParts : kArrangedWords - 1;
      cut.parts_before.push_back({counts[whole], counts[num_parts == 0 ? whole : kind_of(num_parts - 1)]});
      cut.sizes.words += aligned_words(slice);
      for (std::uint32_t p = 0; p < num_parts; ++p) ++cut.sizes.parts.of_kind[kind_of(p)];
      row += rows_of(slice);
    }
  }
  cut.window_slices.push_back(cut.slices.size());
  return cut;
}

template <class Memory>
struct GroupsThere {
  BuildVector<Memory, std::uint32_t> firsts, out;
  BuildVector<Memory, std::uint16_t> lengths;
  BuildVector<Memory, Window> windows;
  SliceGroups given;

  explicit GroupsThere(const Groups& groups)
      : firsts(Memory::template from_host<std::uint32_t>(groups.firsts)),
        out(Memory::template from_host<std::uint32_t>(groups.out)),
        lengths(Memory::template from_host<std::uint16_t>(groups.lengths)),
        windows(Memory::template zeros<Window>(groups.count() / groups.groups_of_window + 1)),
        given{.num_groups = groups.count(),
              .groups_of_window = groups.groups_of_window,
              .num_rows = groups.lengths.size(),
              .num_elements = std::accumulate(groups.lengths.begin(), groups.lengths.end(), std::uint64_t{0}),
              .first = firsts.data(),
              .lengths = lengths.data(),
              .out = out.data(),
              .windows = windows.data()} {}

  Cut found(const CutSlices<Memory>& cut) const {
    const auto host = [](const auto& there) { return Memory::to_host(there.data(), there.size()); };
    Cut result{host(cut.slices), host(cut.groups), host(cut.first_rows), host(cut.parts_before), {},
               cut.sizes};
    for (const Window& window : host(windows)) result.window_slices.push_back(window.first_slice);
    return result;
  }
};

bool same(const PartCounts& a, const PartCounts& b) { return std::ranges::equal(a.of_kind, b.of_kind); }

void expect_same(const Cut& found, const Cut& expected) {
  EXPECT_TRUE(std::ranges::equal(found.slices, expected.slices, [](const Slice& a, const Slice& b) {
    return a.first_word == b.first_word && a.first_out == b.first_out && a.num_words == b.num_words &&
           a.num_rows == b.num_rows;
  }));
  EXPECT_TRUE(found.groups == expected.groups);
  EXPECT_TRUE(found.first_rows == expected.first_rows);
  EXPECT_TRUE(found.parts_before == expected.parts_before);
  EXPECT_TRUE(found.window_slices == expected.window_slices);
  EXPECT_EQ(found.sizes.words, expected.sizes.words);
  EXPECT_TRUE(same(found.sizes.parts, expected.sizes.parts));
}

template <class Memory>
void expect_cut_in(const Groups& a, const Groups& b) {
  const GroupsThere<Memory> first(a), second(b);
  SideStream<Memory> side;
  SliceCutter<Memory> cutter(first.given, second.given, side);
  const auto cut = cutter.cut();
  cutter.begin_windows();
  expect_same(first.found(cut[0]), cut_one_by_one(a));
  expect_same(second.found(cut[1]), cut_one_by_one(b));
}
void expect_cut(const Groups& a, const Groups& b) {
  expect_cut_in<HostMemory>(a, b);
  if (num_devices() > 0) expect_cut_in<DeviceMemory>(a, b);
}

Groups make_groups(std::size_t count, std::uint32_t groups_of_window, std::mt19937& random) {
  Groups groups{.groups_of_window = groups_of_window};
  for (std::size_t g = 0; g < count; ++g) {
    std::vector<std::uint16_t> rows(random() % 3 == 0 ? 0 : random() % (random() % 5 == 0 ? 3000 : 40));
    const std::uint32_t longest = random() % 4 == 0 ? 2000 : 1 + random() % 140;
    for (std::uint16_t& length : rows)
      length = static_cast<std::uint16_t>(1 + random() % (random() % 2 == 0 ? 10 : longest));
    groups.add(rows, random);
  }
  return groups;
}

TEST(SliceCutter, CutsListsOfAllSizes) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    expect_cut(make_groups(6 * (random() % 30), 6, random), make_groups(1 + random() % 200, 1, random));
    expect_cut({}, make_groups(3, 1, random));
    expect_cut(make_groups(12, 4, random), make_groups(1, 1, random));
  }
  expect_cut({}, {});
}

/// More than are placed by one block, and than one block sums up blocks of at once; lists that end where
/// blocks do, or a slice before or behind; and so many that their number is read first.
TEST(SliceCutter, CutsManySlices) {
  std::mt19937 random(3);
  const auto joint_rows = [&](std::size_t count, std::uint16_t length) {
    Groups groups;
    for (; count > 60000; count -= 60000) groups.add(std::vector<std::uint16_t>(60000, length), random);
    groups.add(std::vector<std::uint16_t>(count, length), random);
    return groups;
  };
  for (const std::size_t count : {std::size_t{kPlacedAtOnce - 1}, std::size_t{kPlacedAtOnce},
                                  std::size_t{kPlacedAtOnce + 1}, std::size_t{280000}, std::size_t{600000}}) {
    SCOPED_TRACE(count);
    expect_cut(joint_rows(count, 200), joint_rows(count + 5000, 130));
  }
}

}  // namespace
}  // namespace tessera::cuda
