// The example of docs/adding-a-format.md: the page shows the files that are compiled here, and they work.
#include "tests/kernels/csc_example.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/random_matrix.hpp"
#ifdef TESSERA_HAVE_CUDA
#include "kernels/cuda/formats/device_product.hpp"
#include "tests/support/backends.hpp"
#endif

namespace tessera::test {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// From the includes on.
std::string code_of(const std::string& name) {
  const std::string text = text_of(std::filesystem::path(TESSERA_TEST_DATA) / "../kernels" / name);
  return text.substr(text.find(name.ends_with(".cu") ? "namespace tessera" : "template <class S>"));
}

TEST(CscExample, ThePageShowsWhatIsCompiledHere) {
  const std::string page =
      text_of(std::filesystem::path(TESSERA_TEST_DATA) / "../../docs/adding-a-format.md");
  ASSERT_FALSE(page.empty());
  EXPECT_NE(page.find(code_of("csc_example.hpp")), std::string::npos);
  EXPECT_NE(page.find(code_of("csc_example.cu")), std::string::npos);
}

std::vector<double> plain_product(const CsrView<double>& a, const std::vector<double>& x) {
  std::vector<double> y(a.num_rows, 0);
  for (std::uint64_t row = 0; row < a.num_rows; ++row)
    for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
      y[row] += a.values[k] * x[a.col_indices[k]];
  return y;
}

TEST(CscExample, IsAProduct) {
  const RandomMatrix a = random_matrix(6, 200, 120, 5, true);
  std::vector<double> x(a.num_cols), y(a.num_rows, -7);
  for (std::size_t c = 0; c < x.size(); ++c) x[c] = 1 + static_cast<double>(c % 5);
  const HostProduct<Csc<double>> product(a.view());
  product.multiply(x.data(), y.data());
  const std::vector<double> expected = plain_product(a.view(), x);
  for (std::size_t row = 0; row < y.size(); ++row)
    EXPECT_NEAR(y[row], expected[row], 1e-12 * (1 + expected[row]));
  EXPECT_EQ(product.stats().num_stored, a.view().num_nonzeros());
  EXPECT_EQ(product.stats().bytes, 4 * 121 + 12 * a.view().num_nonzeros());
}

#ifdef TESSERA_HAVE_CUDA
TEST(CscExample, IsAProductOnADevice) {
  if (usable_backends().size() < 2) GTEST_SKIP() << kNoDevice;
  const RandomMatrix a = random_matrix(6, 200, 120, 5, true);
  const std::vector<double> x(a.num_cols, 1.5);
  const cuda::DeviceProduct<Csc<double>> product(a.view());
  const Buffer<double> device_x = cuda::on_device(std::span<const double>(x));
  Buffer<double> y = cuda::device_buffer<double>(a.num_rows);
  product.multiply(device_x.data(), y.data());
  const Buffer<double> found = cuda::on_host(y);
  const std::vector<double> expected = plain_product(a.view(), x);
  for (std::size_t row = 0; row < expected.size(); ++row)
    EXPECT_NEAR(found[row], expected[row], 1e-12 * (1 + expected[row]));
}
#endif

}  // namespace
}  // namespace tessera::test
