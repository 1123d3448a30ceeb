#include "engine/product_comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "kernels/base/error.hpp"
#include "tests/support/linked_backend.hpp"
#include "tests/support/random_matrix.hpp"

namespace tessera::test {
namespace {

template <class S>
std::vector<ProductMeasurement> compare(const std::vector<std::string>& names, const CsrView<double>& matrix,
                                        Backend<S>& backend, int repeat,
                                        const std::function<void(const std::string&)>& progress) {
  return ProductComparison<S>(matrix).measure(
      names, [&](const std::string& name) { return make_product<S>(name, matrix, backend); }, backend,
      {.repeat = repeat, .progress = progress});
}

TEST(ProductComparison, EveryFormIsCheckedAndTimed) {
  const RandomMatrix a = random_matrix(3, 400, 300, 8, true);
  const auto backend = make_backend<double>("cpu");
  std::vector<std::string> names, asked;
  for (const ProductForm& form : product_forms(false)) names.push_back(form.name);
  const auto results = compare<double>(names, a.view(), *backend, 5, [&](const std::string& name) {
    if (asked.empty() || asked.back() != name) asked.push_back(name);
  });
  EXPECT_EQ(asked, names);
  ASSERT_EQ(results.size(), names.size());
  int built = 0;
  for (const ProductMeasurement& m : results) {
    if (!m.refusal.empty()) continue;
    ++built;
    EXPECT_TRUE(m.is_right()) << m.name << " " << m.largest_error;
    EXPECT_GT(m.build_seconds, 0) << m.name;
    EXPECT_GT(m.smallest_seconds, 0) << m.name;
    EXPECT_LE(m.smallest_seconds, m.median_seconds) << m.name;
    EXPECT_LE(m.median_seconds, m.largest_seconds) << m.name;
    // Tiled forms leave columns without elements out of x, and have zeros behind tiles.
    EXPECT_NEAR(static_cast<double>(m.bytes_moved - m.stats.bytes), 700 * sizeof(double), 1000) << m.name;
  }
  EXPECT_GT(built, 8);
}

/// A device that loses the last row: what a wrong kernel looks like.
class WrongMatrix : public Matrix<float> {
 public:
  explicit WrongMatrix(std::unique_ptr<Matrix<float>> right) : right_(std::move(right)) {}
  void apply(const Buffer<float>& x, Buffer<double>& y, unsigned num_vectors) const override {
    right_->apply(x, y, num_vectors);
    y[y.size() - 1] = 0;
  }

 private:
  std::unique_ptr<Matrix<float>> right_;
};
class WrongBackend : public LinkedBackend<float> {
 public:
  using LinkedBackend<float>::LinkedBackend;
  using LinkedBackend<float>::make_matrix;
  std::unique_ptr<Matrix<float>> make_matrix(TileComposite<float> matrix) override {
    return std::make_unique<WrongMatrix>(LinkedBackend<float>::make_matrix(std::move(matrix)));
  }
};

TEST(ProductComparison, AWrongProductIsFound) {
  const RandomMatrix a = random_matrix(4, 50, 50, 60, true);
  ASSERT_GT(a.row_offsets[50], a.row_offsets[49]);
  const auto comm = make_single_rank();
  WrongBackend backend(*comm, kSmallTiles);
  const auto results =
      compare<float>({"tile-composite", "csr-scalar"}, a.view(), backend, 1, [](const std::string&) {});
  EXPECT_FALSE(results[0].is_right());
  EXPECT_TRUE(results[1].is_right());
}

/// Counts products, each of which takes a while.
class SlowProduct : public MatrixProduct<float> {
 public:
  explicit SlowProduct(int& runs) : runs_(runs) {}
  FormatStats stats() const override { return {}; }
  std::uint64_t vector_bytes() const override { return 0; }
  void set_x(std::span<const double>) override {}
  void run() override {
    ++runs_;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::vector<double> y() const override { return {}; }

 private:
  int& runs_;
};

TEST(ProductComparison, SlowProductsAreTimedLessOften) {
  const auto backend = make_backend<float>("cpu");
  const auto num_timed = [&](const ComparisonOptions& options) {
    int runs = 0;
    const auto results = ProductComparison<float>({}).measure(
        {"slow"}, [&](const std::string&) { return std::make_unique<SlowProduct>(runs); }, *backend, options);
    EXPECT_EQ(static_cast<std::size_t>(runs), results[0].num_timed + 2);  // two are not timed
    return results[0].num_timed;
  };
  EXPECT_EQ(num_timed({.repeat = 9, .progress = nullptr}), 9u);
  EXPECT_EQ(num_timed({.repeat = 9, .most_seconds = 1e-9, .progress = nullptr}), 3u);
  const std::size_t in_trial = num_timed(trial_options());  // 50 ms hold 25 of 2 ms
  EXPECT_GE(in_trial, 3u);
  EXPECT_LE(in_trial, 50u);
}

TEST(ProductComparison, TheFastestIsNeitherRefusedNorWrong) {
  std::vector<ProductMeasurement> results(4);
  for (int i = 0; i < 4; ++i) results[i].median_seconds = 1 + i;
  results[0].refusal = "too large";
  results[1].largest_error = 2;
  EXPECT_EQ(fastest(results), &results[2]);
  EXPECT_EQ(fastest(std::span(results).first(2)), nullptr);
}

TEST(ProductComparison, ValuesThatThePrecisionCannotHoldAreRefused) {
  RandomMatrix a = random_matrix(4, 20, 20, 60, true);
  a.values[0] = 1e39;
  const auto f32 = make_backend<float>("cpu");
  EXPECT_THROW(compare<float>({"coo"}, a.view(), *f32, 1, [](const std::string&) {}), InputError);
  const auto f64 = make_backend<double>("cpu");
  EXPECT_TRUE(compare<double>({"coo"}, a.view(), *f64, 1, [](const std::string&) {})[0].is_right());
}

TEST(ProductComparison, ARefusedFormSaysWhyAndTheOthersAreMeasured) {
  RandomMatrix a;  // a long row and many short ones
  a.num_rows = 2000;
  a.num_cols = 500;
  a.row_offsets.push_back(0);
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    for (VertexId c = 0; c < (row == 7 ? 500u : 1u); ++c) a.col_indices.push_back(c);
    a.row_offsets.push_back(a.col_indices.size());
  }
  const auto backend = make_backend<float>("cpu");
  const auto results = compare<float>({"ell", "coo"}, a.view(), *backend, 1, [](const std::string&) {});
  EXPECT_THAT(results[0].refusal, testing::HasSubstr("ell would store 1000000 elements for 2499"));
  EXPECT_EQ(results[0].refused_as, ErrorCategory::usage);
  EXPECT_EQ(results[1].refusal, "");
  EXPECT_TRUE(results[1].is_right());
}

}  // namespace
}  // namespace tessera::test
