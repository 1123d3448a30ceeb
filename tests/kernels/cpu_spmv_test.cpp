// The CPU's products against the order of additions that the format fixes (kernels/tile_composite_view.hpp),
// written down a second time: every bit must follow from the row alone.
#include "kernels/cpu/cpu_spmv.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace tessera::test {
namespace {

/// Chunks of 256 one after the other; in a chunk 8 interleaved accumulators, added as a tree.
double documented_sum(const std::vector<double>& products) {
  double sum = 0;
  for (std::size_t chunk = 0; chunk < products.size(); chunk += 256) {
    double lanes[8] = {};
    for (std::size_t k = chunk; k < std::min(chunk + 256, products.size()); ++k)
      lanes[(k - chunk) % 8] += products[k];
    const double low = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    const double high = (lanes[4] + lanes[5]) + (lanes[6] + lanes[7]);
    sum += low + high;
  }
  return sum;
}

/// Numbers of both signs and of many sizes, so that another order of additions gives other bits.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  double number() {
    const double sign = below(2) == 0 ? 1 : -1;
    return below(20) == 0 ? -0.0 : sign * std::ldexp(1 + uniform_(engine_), static_cast<int>(below(40)) - 20);
  }
  template <class S>
  std::vector<S> numbers(std::size_t count) {
    std::vector<S> values(count);
    for (S& value : values) value = static_cast<S>(number());
    return values;
  }

 private:
  std::mt19937_64 engine_;
  std::uniform_real_distribution<double> uniform_{0, 1};
};

const std::vector<std::uint64_t> kLengths = {0,  1,  2,  3,  4,  5,   6,   7,   8,   9,   10,  15,
                                             16, 17, 31, 33, 64, 255, 256, 257, 511, 512, 513, 1000};
constexpr unsigned kNumVectors[] = {1, 2, 3, 7, 8, 9, 13, 25};

std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> result;
  for (double value : values) result.push_back(std::bit_cast<std::uint64_t>(value));
  return result;
}

/// One tile's part of the matrix: the columns and values of every row, in order.
template <class S>
struct Part {
  std::uint64_t num_columns = 0;
  std::vector<std::vector<std::uint32_t>> columns;
  std::vector<std::vector<S>> values;  // of 1 when pattern-only
};

template <class S>
Part<S> random_part(std::uint64_t num_columns, std::size_t num_rows, bool weighted, Random& random) {
  Part<S> part{num_columns, {}, {}};
  for (std::size_t row = 0; row < num_rows; ++row) {
    const std::uint64_t length = kLengths[random.below(kLengths.size())];
    std::vector<std::uint32_t> columns;
    for (std::uint64_t k = 0; k < length; ++k)
      columns.push_back(static_cast<std::uint32_t>(random.below(num_columns)));
    part.columns.push_back(columns);
    part.values.push_back(weighted ? random.numbers<S>(length) : std::vector<S>(length, S{1}));
  }
  return part;
}

/// Adds the part's sums for vector q of x, which begins at the part's first column.
template <class S>
void add_documented(const Part<S>& part, const S* x, unsigned num_vectors, unsigned q,
                    std::vector<double>& y) {
  for (std::size_t row = 0; row < part.columns.size(); ++row) {
    std::vector<double> products;
    for (std::size_t k = 0; k < part.columns[row].size(); ++k)
      products.push_back(static_cast<double>(part.values[row][k]) *
                         static_cast<double>(x[part.columns[row][k] * num_vectors + q]));
    if (!products.empty()) y[row * num_vectors + q] += documented_sum(products);
  }
}

template <class Check>
void with_threads(const Check& check) {
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 4}) {
    omp_set_num_threads(threads);
    check();
  }
  omp_set_num_threads(before);
}

template <class S>
class CpuSpmv : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(CpuSpmv, Precisions);

TYPED_TEST(CpuSpmv, CsrRowsAreSummedInTheDocumentedOrder) {
  using S = TypeParam;
  Random random(1);
  for (const bool weighted : {false, true}) {
    const Part<S> part = random_part<S>(700, 400, weighted, random);  // enough for several threads
    std::vector<EdgeOffset> offsets = {0};
    std::vector<VertexId> columns;
    std::vector<S> values;
    for (std::size_t row = 0; row < part.columns.size(); ++row) {
      columns.insert(columns.end(), part.columns[row].begin(), part.columns[row].end());
      values.insert(values.end(), part.values[row].begin(), part.values[row].end());
      offsets.push_back(columns.size());
    }
    const CsrView<S> a{part.columns.size(), 700, offsets.data(), columns.data(),
                       weighted ? values.data() : nullptr};
    for (const unsigned k : kNumVectors) {
      const std::vector<S> x = random.numbers<S>(700 * k);
      std::vector<double> expected(a.num_rows * k, 0.0);
      for (unsigned q = 0; q < k; ++q) add_documented(part, x.data(), k, q, expected);
      with_threads([&] {
        std::vector<double> y(a.num_rows * k, std::nan(""));
        cpu::spmv(a, x.data(), y.data(), k);
        EXPECT_EQ(bits(y), bits(expected)) << k << " vectors";
      });
    }
  }
}

/// Tiles packed in one of many ways: rows in any order, several to a workload, either layout, padding in both
/// directions.
template <class S>
struct Packed {
  std::vector<Tile> tiles;
  std::vector<Workload> workloads;
  std::vector<VertexId> row_ids;
  std::vector<std::uint16_t> offsets16;
  std::vector<std::uint32_t> offsets32;
  std::vector<S> values16, values32;

  TileCompositeView<S> view(std::uint64_t num_rows, std::uint64_t num_slots, bool weighted) const {
    return {num_rows,
            num_slots,
            tiles.data(),
            tiles.size(),
            workloads.data(),
            row_ids.data(),
            offsets16.data(),
            offsets32.data(),
            weighted ? values16.data() : nullptr,
            weighted ? values32.data() : nullptr};
  }

  void add_tile(const Part<S>& part, bool wide, std::uint64_t first_slot, Random& random) {
    tiles.push_back({first_slot, part.num_columns, workloads.size(), 0, wide});
    std::vector<VertexId> rows;
    for (std::size_t row = 0; row < part.columns.size(); ++row)
      if (!part.columns[row].empty()) rows.push_back(static_cast<VertexId>(row));
    for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
    for (std::size_t first = 0; first < rows.size();) {
      const std::size_t count = std::min<std::size_t>(1 + random.below(12), rows.size() - first);
      add_workload(part,
                   {rows.begin() + static_cast<std::ptrdiff_t>(first),
                    rows.begin() + static_cast<std::ptrdiff_t>(first + count)},
                   wide, random);
      first += count;
      ++tiles.back().num_workloads;
    }
  }

 private:
  void add_workload(const Part<S>& part, const std::vector<VertexId>& rows, bool wide, Random& random) {
    std::size_t longest = 0;
    for (VertexId row : rows) longest = std::max(longest, part.columns[row].size());
    Workload w;
    w.first_element = wide ? offsets32.size() : offsets16.size();
    w.first_row = row_ids.size();
    w.num_rows = static_cast<VertexId>(rows.size());
    w.width = static_cast<std::uint32_t>(longest + random.below(2) * random.below(300));
    w.height = static_cast<std::uint32_t>(rows.size() + random.below(9));
    w.layout = random.below(2) == 0 ? Layout::row_major : Layout::column_major;
    workloads.push_back(w);
    row_ids.insert(row_ids.end(), rows.begin(), rows.end());
    const std::size_t size = w.first_element + std::uint64_t{w.width} * w.height;
    const auto zero_slot = static_cast<std::uint32_t>(part.num_columns);
    wide ? offsets32.resize(size, zero_slot) : offsets16.resize(size, static_cast<std::uint16_t>(zero_slot));
    (wide ? values32 : values16).resize(size, S{0});
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t k = 0; k < part.columns[rows[r]].size(); ++k) {
        const EdgeOffset at = element_index(w, r, k);
        if (wide)
          offsets32[at] = part.columns[rows[r]][k];
        else
          offsets16[at] = static_cast<std::uint16_t>(part.columns[rows[r]][k]);
        (wide ? values32 : values16)[at] = part.values[rows[r]][k];
      }
  }
};

TYPED_TEST(CpuSpmv, TilesAreSummedInTheDocumentedOrderHoweverTheyArePacked) {
  using S = TypeParam;
  constexpr std::size_t kRows = 150;
  Random random(2);
  for (const bool weighted : {false, true})
    for (int packing = 0; packing < 4; ++packing) {
      const bool widest = packing == 0;
      const std::vector<std::uint64_t> widths = {widest ? 65535u : 900u, 300, widest ? 70000u : 500u};
      std::vector<Part<S>> parts;
      Packed<S> packed;
      std::uint64_t num_slots = 0;
      for (std::size_t t = 0; t < widths.size(); ++t) {
        parts.push_back(random_part<S>(widths[t], kRows, weighted, random));
        packed.add_tile(parts[t], t == 2, num_slots, random);  // the last one is the remainder
        num_slots += widths[t] + 1;
      }
      for (const unsigned k : kNumVectors) {
        std::vector<S> x = random.numbers<S>(num_slots * k);
        std::vector<double> expected(kRows * k, 0.0);
        for (std::size_t t = 0; t < parts.size(); ++t) {  // tile after tile
          const std::uint64_t zero_slot = packed.tiles[t].first_slot + widths[t];
          std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(zero_slot * k), k, S{0});
          for (unsigned q = 0; q < k; ++q)
            add_documented(parts[t], x.data() + packed.tiles[t].first_slot * k, k, q, expected);
        }
        with_threads([&] {
          std::vector<double> y(kRows * k, std::nan(""));
          cpu::spmv(packed.view(kRows, num_slots, weighted), x.data(), y.data(), k);
          EXPECT_EQ(bits(y), bits(expected)) << k << " vectors";
        });
      }
    }
}

TYPED_TEST(CpuSpmv, AMatrixWithoutElementsGivesZeros) {
  using S = TypeParam;
  const std::vector<EdgeOffset> offsets(6, 7);  // five empty rows
  const std::vector<S> x(9, S{3});
  for (const unsigned k : {1u, 3u}) {
    std::vector<double> y(5 * k, std::nan(""));
    cpu::spmv(CsrView<S>{5, 3, offsets.data(), nullptr, nullptr}, x.data(), y.data(), k);
    EXPECT_EQ(bits(y), bits(std::vector<double>(5 * k, 0.0)));
    const Tile tile{.first_slot = 0, .num_columns = 2};
    TileCompositeView<S> a;
    a.num_rows = 5;
    a.num_slots = 3;
    a.tiles = &tile;
    a.num_tiles = 1;
    y.assign(5 * k, std::nan(""));
    cpu::spmv(a, x.data(), y.data(), k);
    EXPECT_EQ(bits(y), bits(std::vector<double>(5 * k, 0.0)));
  }
  cpu::spmv(CsrView<S>{}, x.data(), nullptr, 1);
  cpu::spmv(TileCompositeView<S>{}, x.data(), nullptr, 1);
}

}  // namespace
}  // namespace tessera::test
