// A device's backend against the CPU's: the same bits from every operation, on the same matrix packed for
// the device (of rows in fours those of the definition). Skips, visibly, where no device answers.
#include "kernels/base/error.hpp"
#include "tests/support/device_case.hpp"
#include "tests/support/rows_in_fours.hpp"

namespace tessera::test {
namespace {

/// 0 where a row has no elements, which a product may leave alone.
std::vector<double> poisoned_y(const RandomMatrix& a, unsigned num_vectors) {
  std::vector<double> y(a.num_rows * num_vectors, 0);
  for (std::uint64_t row = 0; row < a.num_rows; ++row)
    if (a.row_offsets[row] < a.row_offsets[row + 1])
      std::fill_n(y.begin() + static_cast<std::ptrdiff_t>(row * num_vectors), num_vectors, -7.0);
  return y;
}

/// A product in the order of the rows.
std::vector<double> in_order(const std::vector<double>& product, const std::vector<VertexId>& positions,
                             unsigned num_vectors) {
  std::vector<double> y(positions.size() * num_vectors, 0.0);
  for (std::size_t row = 0; row < positions.size(); ++row)
    for (unsigned q = 0; q < num_vectors && positions[row] != kNoVertex; ++q)
      y[row * num_vectors + q] = product.at(std::size_t{positions[row]} * num_vectors + q);
  return y;
}

/// Values of rows, every third of them 0, where a backend may have left them: a device out of order.
struct PlacedRows {
  template <class S>
  PlacedRows(Backend<S>& backend, const std::vector<double>& rows, unsigned num_vectors) {
    const std::size_t num_rows = rows.size() / num_vectors;
    std::vector<double> product, plain = rows;
    std::vector<VertexId> where(num_rows, kNoVertex);
    for (std::size_t row = num_rows; row-- > 0;) {
      const auto first = rows.begin() + static_cast<std::ptrdiff_t>(row * num_vectors);
      if (row % 3 == 1) {
        std::fill_n(plain.begin() + (first - rows.begin()), num_vectors, 0.0);
        continue;
      }
      where[row] = static_cast<VertexId>(product.size() / num_vectors);
      product.insert(product.end(), first, first + num_vectors);
    }
    const bool out_of_order = !backend.memory_is_host();
    const std::vector<double>& values = out_of_order ? product : plain;
    y = backend.template allocate<double>(values.size());
    backend.upload(values.data(), y.data(), y.size_bytes());
    positions = backend.template allocate<VertexId>(where.size());
    backend.upload(where.data(), positions.data(), positions.size_bytes());
    if (out_of_order) places = {&positions, product.size() / num_vectors};
  }
  Buffer<double> y;
  Buffer<VertexId> positions;
  RowPlaces places;
};

TYPED_TEST_SUITE(DeviceBackend, Precisions);

struct ProductShape {
  std::uint64_t rows, cols;
  double mean_length;
  bool weighted;
  std::uint32_t tile_columns, bin_messages;
};

template <class S>
class DeviceProducts : public DeviceBackend<S> {
 protected:
  /// Every kernel on one matrix, with one vector and with blocks of them.
  void expect_the_bits_of_the_cpu(const ProductShape& shape) {
    expect_the_bits_of_the_cpu(random_matrix(7, shape.rows, shape.cols, shape.mean_length, shape.weighted),
                               shape.tile_columns, shape.bin_messages, {1, 3, 32});
  }
  void expect_the_bits_of_the_cpu(const RandomMatrix& a, std::uint32_t tile_columns,
                                  std::uint32_t bin_messages, const std::vector<unsigned>& vectors) {
    TilingLimits limits = this->device_->tiling_limits();
    limits.tile_columns = tile_columns;
    const ColumnOrder wide = order_columns_by_length(a.column_lengths(), limits.tile_columns);
    const ColumnOrder narrow = order_columns_by_length(a.column_lengths(), limits.tile_columns,
                                                       limits.max_dense_tiles, Remainder::narrow);
    for (const unsigned k : vectors) {
      for (const KernelKind kind : {KernelKind::tile_composite, KernelKind::tile_messages, KernelKind::csr}) {
        SCOPED_TRACE(testing::Message()
                     << a.num_rows << " x " << a.num_cols << (a.values.empty() ? "" : ", weighted")
                     << ", kernel " << to_string(kind) << ", vectors " << k);
        const ColumnOrder& columns = kind == KernelKind::tile_messages ? narrow : wide;
        this->expect_same([&](Backend<S>& backend) {
          const auto matrix = pack(backend, a, kind, columns, limits, bin_messages);
          const Buffer<S> x = this->put(backend, random_x<S>(columns, k));
          const RowPlaces places = matrix->row_places();
          auto y = this->put(backend, places.positions == nullptr
                                          ? poisoned_y(a, k)
                                          : std::vector<double>(places.num_products * k, -7.0));
          if (kind == KernelKind::csr)
            multiply_csr(
                backend, *matrix, [&] { return csr_of<S>(a, columns); }, x, y, k);
          else
            matrix->apply(x, y, k);
          if (places.positions == nullptr) return this->get(backend, y);
          return in_order(this->get(backend, y), this->get(backend, *places.positions), k);
        });
      }
    }
  }
};
TYPED_TEST_SUITE(DeviceProducts, Precisions);

TYPED_TEST(DeviceProducts, HaveTheBitsOfTheCpu) {
  const std::uint32_t full = this->device_->tiling_limits().tile_columns;
  for (const ProductShape& shape :
       {ProductShape{3000, 5000, 20, false, 512, 1000}, ProductShape{3000, 5000, 20, true, 511, 777},
        ProductShape{1, 40, 5, false, 8, 100}, ProductShape{40, 1, 1, false, 8, 2},
        ProductShape{30000, 700, 2, false, 512, 1000}, ProductShape{30000, 700, 2, true, 512, 1000},
        ProductShape{9, 20000, 3000, true, full, full}})
    this->expect_the_bits_of_the_cpu(shape);
}

/// Where products change hands: chunks, rows of a warp and of a block, staged ones and others, groups of
/// threads of a vector each.
TYPED_TEST(DeviceProducts, OfRowsAndBlocksOfAllSizesHaveTheBitsOfTheCpu) {
  const std::uint32_t full = this->device_->tiling_limits().tile_columns;
  for (const bool weighted : {false, true}) {
    RandomMatrix a;
    a.num_cols = 40000;
    a.row_offsets.push_back(0);
    for (const std::uint64_t length : {0, 1, 7, 8, 255, 4097, 0, 256, 257, 4096, 600, 17000, 2048, 2049, 3}) {
      for (std::uint64_t k = 0; k < length; ++k)
        a.col_indices.push_back(static_cast<VertexId>(k * 2 + length % 7));
      a.row_offsets.push_back(a.col_indices.size());
      ++a.num_rows;
    }
    for (std::size_t k = 0; weighted && k < a.col_indices.size(); ++k)
      a.values.push_back(0.25 + static_cast<double>(k % 97) / 31);
    this->expect_the_bits_of_the_cpu(a, full, full, {1, 2, 8, 9, 16, 17, 25, 33, 70});
  }
}

/// Not under the sanitizers: minutes.
TYPED_TEST(DeviceProducts, OfLargeMatricesHaveTheBitsOfTheCpu) {
  const std::uint32_t full = this->device_->tiling_limits().tile_columns;
  for (const ProductShape& shape :
       {ProductShape{70000, 90000, 6, false, full, full}, ProductShape{2000, 60000, 60, true, full, full},
        // more windows than blocks, so that blocks go from one to the next
        ProductShape{100000, 60000, 3, false, 64, 256}, ProductShape{100000, 60000, 3, true, 63, 256},
        ProductShape{9, 20000, 6000, true, full, full},
        // more than CSR stages little of
        ProductShape{60000, 5000, 20, false, full, full}, ProductShape{60000, 5000, 20, true, full, full},
        ProductShape{300, 60000, 5000, false, full, full}, ProductShape{300, 60000, 5000, true, full, full},
        // words enough for messages to be kept in the cache (kernels/cuda/cache_use.hpp)
        ProductShape{70000, 90000, 200, false, full, full}})
    this->expect_the_bits_of_the_cpu(shape);
}

TYPED_TEST(DeviceBackend, UpdatesHaveTheBitsAndSumsOfTheCpu) {
  using S = TypeParam;
  const ExactScale bound(4.0);
  for (const std::size_t n : {0, 1, 255, 100003, 1300003}) {  // the last: more than all threads take at once
    auto y = random_values<double>(n, 1), scale0 = random_values<double>(n, 2, -0.5);
    if (n > 0) y[n / 2] = 3e3;  // sums have headroom
    std::vector<S> scale(n), jump = random_values<S>(n, 3), score = random_values<S>(n, 4);
    for (std::size_t i = 0; i < n; ++i) scale[i] = static_cast<S>(std::max(0.0, scale0[i]));
    std::vector<VertexId> turned(n);
    std::iota(turned.rbegin(), turned.rend(), VertexId{0});
    for (const auto& [with_jump, weight] : {std::pair(false, 0.0), {true, 0.0}, {false, 1.0}, {true, 1.4}})
      this->expect_same([&, with_jump = with_jump, weight = weight](Backend<S>& backend) {
        auto updated = this->put(backend, score), before = this->put(backend, random_values<S>(n, 5));
        auto next = this->put(backend, std::vector<S>(n, S{-3}));
        const auto places = this->put(backend, turned);
        const PlacedRows placed(backend, y, 1);
        RankOrigin<S> origin{before, weight};
        auto pending = backend.rank_update(
            {0.85, 0.1, 0.05}, placed.y, placed.places,
            this->put(backend, with_jump ? jump : std::vector<S>()), this->put(backend, scale), bound,
            with_jump, updated, {&next, with_jump ? in_small_tiles(n - n / 5) : listed_in(places, n - n / 5)},
            weight > 0 ? &origin : nullptr);
        const auto sums = limbs(pending.take().front());
        if (weight > 0) {
          EXPECT_EQ(this->get(backend, before), score);
        }
        return std::tuple(sums, this->get(backend, updated), this->get(backend, next));
      });
    this->expect_same([&](Backend<S>& backend) {
      auto updated = this->put(backend, score);
      auto next = this->put(backend, std::vector<S>(n, S{-3}));
      const PlacedRows placed(backend, y, 1);
      const auto masses = this->put(backend, scale);
      auto pending =
          backend.rank_update({.link = 0.7}, placed.y, placed.places, {}, RowScale<S>::masses(masses), bound,
                              true, updated, {&next, in_small_tiles(n - n / 5)});
      return std::tuple(limbs(pending.take().front()), this->get(backend, updated), this->get(backend, next));
    });
    this->expect_same([&](Backend<S>& backend) {
      auto updated = this->put(backend, score);
      auto next = this->put(backend, std::vector<S>(n, S{-3}));
      auto pending = backend.rank_update({.link = 0.7}, this->put(backend, y), {}, {}, {}, bound, true,
                                         updated, {&next, in_small_tiles(n - n / 5)});
      return std::tuple(limbs(pending.take().front()), this->get(backend, updated), this->get(backend, next));
    });
  }
}

TYPED_TEST(DeviceBackend, MarksAreThoseOfTheCpu) {
  using S = TypeParam;
  for (const std::size_t n : {0, 1, 255, 100003, 1300003}) {
    const auto y = random_values<double>(n, 1, -0.5);
    std::vector<S> before(n);
    for (std::size_t i = 0; i < n; i += 3) before[i] = 1;
    std::vector<VertexId> turned(n);
    std::iota(turned.rbegin(), turned.rend(), VertexId{0});
    for (const bool with_masses : {false, true})
      this->expect_same([&](Backend<S>& backend) {
        auto marks = this->put(backend, before), next = this->put(backend, std::vector<S>(n, S{-3}));
        const auto places = this->put(backend, turned);
        const auto masses = this->put(backend, with_masses ? random_values<S>(n, 2) : std::vector<S>());
        const PlacedRows placed(backend, y, 1);
        auto pending = backend.mark_rows(
            placed.y, placed.places, masses, ExactScale(4.0), marks,
            {&next, with_masses ? listed_in(places, n - n / 5) : in_small_tiles(n - n / 5)});
        return std::tuple(limbs(pending.take().front()), this->get(backend, marks), this->get(backend, next));
      });
  }
}

TYPED_TEST(DeviceBackend, SumsOfNormsAreThoseOfTheCpu) {
  const ExactScale bound(4.0);
  for (const std::size_t n : {0, 1, 255, 100003, 1300003}) {
    const auto y = random_values<double>(n, 2, -0.5);
    this->expect_same([&](Backend<TypeParam>& backend) {
      const auto on_backend = this->put(backend, y);
      const NormSums plain = backend.norm_sums(on_backend, false, bound),
                     squares = backend.norm_sums(on_backend, true, bound);
      return std::tuple(plain.largest, squares.largest, plain.sum.limbs[0], plain.sum.limbs[1],
                        plain.sum.limbs[2], squares.sum.limbs[0], squares.sum.limbs[1], squares.sum.limbs[2]);
    });
  }
}

TYPED_TEST(DeviceBackend, NormedUpdatesHaveTheBitsOfTheCpu) {
  using S = TypeParam;
  for (const std::size_t n : {1, 255, 1025, 100003, 1300003}) {
    const auto y = random_values<double>(n, 1, 0.001);
    const std::vector<S> score = random_values<S>(n, 4);
    const double largest = *std::max_element(y.begin(), y.end());
    for (const ScoreNorm norm : {ScoreNorm::sum, ScoreNorm::max, ScoreNorm::l2})
      this->expect_same([&](Backend<S>& backend) {
        auto updated = this->put(backend, score);
        auto next = this->put(backend, std::vector<S>(n, S{-3}));
        const PlacedRows placed(backend, y, 1);
        std::vector<double> found;
        std::vector<decltype(limbs({}))> sums;
        // What is not covered leaves everything as it was, and nothing behind for the next.
        for (const double most : {largest, largest / 2, largest * 1.5, 0.0, largest * 4}) {
          const NormStep step{norm, most / 2, most};
          NormedUpdate update = backend.normed_update(step, 2.0, placed.y, placed.places, ExactScale(4.0),
                                                      true, updated, {&next, in_small_tiles(n - n / 5)});
          EXPECT_EQ(update.sums.has_value(), most == largest || most == largest * 1.5) << most;
          found.push_back(update.norm.largest);
          if (update.sums) {
            found.push_back(step.size(update.norm, step.scale()));
            sums.push_back(limbs(update.sums->take().front()));
          }
        }
        return std::tuple(found, sums, this->get(backend, updated), this->get(backend, next));
      });
  }
}

TYPED_TEST(DeviceBackend, TimesWorkThatWaitsForTheDeviceAndWorkThatFails) {
  Buffer<double> y = this->device_->template allocate<double>(1000);
  const auto seconds = this->device_->time_runs(
      [&] {
        this->device_->clear(y);
        this->device_->synchronize();
      },
      5);
  EXPECT_EQ(seconds.size(), 5u);
  EXPECT_GE(*std::min_element(seconds.begin(), seconds.end()), 0);
  EXPECT_THROW(this->device_->time_runs([] { throw InternalError("in between"); }, 2), InternalError);
  this->device_->synchronize();
}

TYPED_TEST(DeviceBackend, LinearOperationsHaveTheBitsOfTheCpu) {
  using S = TypeParam;
  for (const std::size_t n : {0, 1, 255, 4096, 100003}) {
    const std::vector<S> a = random_values<S>(n, 1, -1), b = random_values<S>(n, 2, -1);
    this->expect_same([&](Backend<S>& backend) {
      const auto x = this->put(backend, a), y = this->put(backend, b);
      auto sum = this->put(backend, b), scaled = this->put(backend, b), product = this->put(backend, b);
      backend.add_scaled(0.3, x, sum);
      backend.scale_and_add(x, -1.7, scaled);
      backend.multiply_elements(x, y, product);
      return std::tuple(backend.dot(x, y), this->get(backend, sum), this->get(backend, scaled),
                        this->get(backend, product));
    });
  }
}

TYPED_TEST(DeviceBackend, BlocksOfVectorsHaveTheBitsOfTheCpu) {
  using S = TypeParam;
  for (const unsigned k : {1u, 5u, 25u, 32u, 64u, 70u, 129u}) {
    const std::size_t n = k == 25 ? 40003 : 5003;  // more rows than all blocks take at once, and fewer
    const auto y = random_values<double>(n * k, 1);
    const auto walk = random_values<S>(n * k, 2);
    std::vector<VertexId> restart_rows(k);
    for (unsigned q = 0; q < k; ++q) restart_rows[q] = q % 3 == 2 ? kNoVertex : q * 41;
    const auto scale = random_values<S>(n, 3);
    std::vector<VertexId> slots(n);
    std::iota(slots.rbegin(), slots.rend(), VertexId{0});
    for (const auto& [scaled, further] :
         {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
      if (further && k > kMostFurtherVectors) continue;
      std::vector<double> weights;
      for (unsigned q = 0; further && q < k; ++q) weights.push_back(q % 4 == 1 ? 1.0 : 1.02 + 0.015 * q);
      this->expect_same([&](Backend<S>& backend) {
        auto updated = this->put(backend, walk), x = this->put(backend, std::vector<S>(n * k, S{-1}));
        auto origin = this->put(backend, random_values<S>(n * k, 5));
        const PlacedRows placed(backend, y, k);
        const auto rows = this->put(backend, restart_rows), places = this->put(backend, slots);
        const auto scales = scaled ? this->put(backend, scale) : Buffer<S>();
        const auto sums =
            backend
                .walk_update({0.9, 0.1, rows, scales, ExactScale(4.0), scaled, weights}, placed.y,
                             placed.places, updated,
                             {&x, scaled ? in_small_tiles(n - n / 5) : listed_in(places, n - n / 5)},
                             further ? &origin : nullptr)
                .take();
        std::vector<std::vector<std::vector<std::int64_t>>> all;
        for (const VectorSums& one : sums) all.push_back(limbs(one));
        if (further) {
          EXPECT_EQ(this->get(backend, origin), walk);
        }
        return std::tuple(all, this->get(backend, updated), this->get(backend, x));
      });
    }
    std::vector<unsigned> kept;
    for (unsigned q = 0; q < k; q += 2) kept.push_back(q);
    this->expect_same([&](Backend<S>& backend) {
      auto out = this->put(backend, std::vector<S>(n * kept.size(), S{-1}));
      backend.select_vectors(this->put(backend, walk), k, kept, out);
      return this->get(backend, out);
    });
  }
}

TYPED_TEST(DeviceBackend, MovesHaveTheBitsOfTheCpu) {
  using S = TypeParam;
  const std::size_t n = 1000, num_slots = 3000;
  const auto scale = random_values<S>(n, 3);
  std::vector<VertexId> slots(n);
  for (std::size_t i = 0; i < n; ++i) slots[i] = static_cast<VertexId>((i * 7 + 3) % num_slots);
  for (const unsigned k : {1u, 4u}) {
    const auto values = random_values<S>(n * k, 2);
    for (const bool scaled : {false, true})
      this->expect_same([&](Backend<S>& backend) {
        const auto vector = this->put(backend, values), factors = this->put(backend, scale);
        auto x = this->put(backend, std::vector<S>(num_slots * k, S{-1}));
        auto rows = this->put(backend, std::vector<S>(n * k, S{-1})),
             in_tiles = this->put(backend, std::vector<S>(num_slots * k, S{-1}));
        const auto places = this->put(backend, slots);
        backend.put_inputs(vector, scaled ? &factors : nullptr, k, {&x, InputPlaces::listed_in(places)});
        backend.put_inputs(vector, scaled ? &factors : nullptr, k, {&rows, {.count = n}});
        backend.put_inputs(vector, scaled ? &factors : nullptr, k, {&in_tiles, in_small_tiles(n)});
        auto cleared = this->put(backend, values);
        backend.clear(cleared);
        auto filled = this->put(backend, values);
        backend.fill(filled, S{0.25});
        EXPECT_EQ(this->get(backend, filled), std::vector<S>(n * k, S{0.25}));
        return std::tuple(this->get(backend, x), this->get(backend, rows), this->get(backend, in_tiles),
                          this->get(backend, cleared));
      });
  }
}

TEST(BackendNames, AnUnknownNameListsTheKnownOnes) {
  try {
    make_backend<float>("tpu");
    FAIL() << "no error";
  } catch (const OptionError& error) {
    for (const std::string& name : backend_names())
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace tessera::test
