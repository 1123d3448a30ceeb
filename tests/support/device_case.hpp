// A device's backend beside the CPU's, for tests of the same bits. Skips, visibly, where no device answers.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "engine/spmv_plan.hpp"
#include "engine/tile_composite_builder.hpp"
#include "engine/tile_messages_builder.hpp"
#include "kernels/backend.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/random_values.hpp"

namespace tessera::test {

template <class S>
class DeviceBackend : public testing::Test {
 protected:
  void SetUp() override {
    if (test::usable_backends().size() < 2) GTEST_SKIP() << kNoDevice;
    cpu_ = make_backend<S>("cpu");
    device_ = make_backend<S>(test::usable_backends().back());
  }
  template <class T>
  static Buffer<T> put(Backend<S>& backend, const std::vector<T>& host) {
    auto buffer = backend.template allocate<T>(host.size());
    backend.upload(host.data(), buffer.data(), buffer.size_bytes());
    return buffer;
  }
  template <class T>
  static std::vector<T> get(Backend<S>& backend, const Buffer<T>& buffer) {
    std::vector<T> host(buffer.size());
    backend.download(buffer.data(), host.data(), buffer.size_bytes());
    return host;
  }
  /// Runs `work` on both backends and expects the same answer.
  template <class Work>
  void expect_same(const Work& work) {
    EXPECT_EQ(work(*cpu_), work(*device_));
  }
  std::unique_ptr<Backend<S>> cpu_, device_;
};

/// VectorSums in a form that can be compared and printed.
inline std::vector<std::vector<std::int64_t>> limbs(const VectorSums& sums) {
  std::int64_t largest = 0;
  static_assert(sizeof largest == sizeof sums.change_max);
  std::memcpy(&largest, &sums.change_max, sizeof largest);
  return {{std::begin(sums.change_l1.limbs), std::end(sums.change_l1.limbs)},
          {std::begin(sums.change_squares.limbs), std::end(sums.change_squares.limbs)},
          {std::begin(sums.total.limbs), std::end(sums.total.limbs)},
          {std::begin(sums.dangling.limbs), std::end(sums.dangling.limbs)},
          {largest}};
}

/// A vector for `columns`, 0 in the slots that padding points to.
template <class S>
std::vector<S> random_x(const ColumnOrder& columns, unsigned num_vectors) {
  std::vector<S> x = random_values<S>(columns.num_slots * num_vectors, 5);
  for (const Tile& tile : columns.tiles)
    std::fill_n(x.begin() + static_cast<std::ptrdiff_t>((tile.first_slot + tile.num_columns) * num_vectors),
                num_vectors, S{0});
  return x;
}

/// Of so many inputs, the first of these places.
inline InputPlaces listed_in(const Buffer<VertexId>& places, std::uint64_t count) {
  return {.count = count, .listed = places.data()};
}
/// Of so many inputs, in tiles of 64 columns, the last of which has half of them: places below 65/64 of that.
inline InputPlaces in_small_tiles(std::uint64_t count) {
  return {.count = count, .slots = ColumnSlots(64, count / 128)};
}

inline std::vector<VertexId> rows_in_order(const RandomMatrix& a) {
  std::vector<VertexId> rows(a.num_rows);
  std::iota(rows.begin(), rows.end(), VertexId{0});
  return rows;
}
template <class S>
CsrMatrix<S> csr_of(const RandomMatrix& a, const ColumnOrder& columns) {
  return build_csr_matrix<S>(a.view(), rows_in_order(a), columns);
}

template <class S>
std::unique_ptr<Matrix<S>> pack(Backend<S>& backend, const RandomMatrix& a, KernelKind kind,
                                const ColumnOrder& columns, const TilingLimits& limits,
                                std::uint32_t bin_messages) {
  if (kind == KernelKind::csr) return backend.make_matrix(csr_of<S>(a, columns));
  const std::vector<VertexId> rows = rows_in_order(a);
  if (kind == KernelKind::tile_composite)
    return backend.make_matrix(
        build_tile_composite<S>(a.view(), rows, columns, limits, default_perf_table()));
  return backend.make_matrix(build_tile_messages<S>(a.view(), rows, columns, {.most_messages = bin_messages}),
                             nullptr);
}

using Precisions = testing::Types<float, double>;

}  // namespace tessera::test
