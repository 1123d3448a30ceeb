// Formats on a device in shapes that only large matrices have by themselves: several tiles, several packets.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/formats/packet.hpp"
#include "kernels/formats/tile_coo.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random_matrix.hpp"
#ifdef TESSERA_HAVE_CUDA
#include "kernels/cuda/formats/device_product.hpp"

namespace tessera::test {
namespace {

template <class Format>
void expect_product(Format form, const RandomMatrix& a) {
  using S = typename Format::Value;
  std::vector<S> x(a.num_cols);
  for (std::size_t c = 0; c < x.size(); ++c) x[c] = (c % 2 == 0 ? S{1} : S{-1}) * static_cast<S>(1 + c % 5);
  const cuda::DeviceProduct<Format> product(std::move(form));
  const Buffer<S> on_device = cuda::on_device(std::span<const S>(x));
  Buffer<S> y = cuda::device_buffer<S>(a.num_rows);
  for (int run = 0; run < 2; ++run) product.multiply(on_device.data(), y.data());
  const Buffer<S> found = cuda::on_host(y);
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    double expected = 0, absolute = 0;
    for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
      const double term = a.values[k] * static_cast<double>(x[a.col_indices[k]]);
      expected += term;
      absolute += std::abs(term);
    }
    const auto roundings = static_cast<double>(a.row_offsets[row + 1] - a.row_offsets[row] + 2);
    EXPECT_NEAR(static_cast<double>(found[row]), expected,
                roundings * absolute * std::numeric_limits<S>::epsilon())
        << row;
  }
}

template <class S>
class DeviceFormats : public testing::Test {
 protected:
  void SetUp() override {
    if (usable_backends().size() < 2) GTEST_SKIP() << kNoDevice;
  }
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceFormats, Precisions);

TYPED_TEST(DeviceFormats, TilesFollowEachOther) {
  const RandomMatrix a = random_matrix(5, 9000, 700, 40, true);
  for (const std::uint32_t columns : {7u, 64u, 300u}) {
    TileCoo<TypeParam> form(a.view(), {.num_columns = columns});
    EXPECT_GT(form.num_tiles(), 1u);
    expect_product(std::move(form), a);
  }
}

TYPED_TEST(DeviceFormats, PacketsStandBesideTheRest) {
  constexpr std::uint64_t kRows = 1200;
  RandomMatrix a = random_matrix(6, kRows, kRows, 30, true);
  // Most elements inside a part: column c of row r goes to the part of r, but every third.
  constexpr std::uint32_t kParts = 5;
  for (std::uint64_t row = 0; row < kRows; ++row)
    for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
      if (k % 3 != 0)
        a.col_indices[k] = static_cast<VertexId>(a.col_indices[k] / kParts * kParts + row % kParts);
  std::vector<std::uint32_t> parts(kRows);
  for (std::uint64_t row = 0; row < kRows; ++row) parts[row] = static_cast<std::uint32_t>(row % kParts);
  Packet<TypeParam> form(a.view(), 300, parts);
  EXPECT_EQ(form.num_parts(), kParts);
  EXPECT_GT(form.rest.values.size(), 0u);
  expect_product(std::move(form), a);
}

}  // namespace
}  // namespace tessera::test
#endif
