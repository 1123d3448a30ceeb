// Conjugate gradients of format_bench: with a better format prepared beside the steps, before them, or not.
#include <cmath>

#include "algorithms/conjugate_gradients.hpp"
#include "engine/overlapped_product.hpp"
#include "tests/bench/format_bench.hpp"
#include "tests/bench/stand_in_systems.hpp"

namespace tessera::bench {
namespace {

struct Way {
  const char* name;
  const char* first;
  const char* better;  // "": none
  bool overlap;
};
constexpr Way kWays[] = {{"hyb only", "hyb", "", false},
                         {"csr-ell prepared beside hyb", "hyb", "csr-ell", true},
                         {"csr-ell prepared before", "hyb", "csr-ell", false},
                         {"csr-ell prepared beside csr-adaptive", "csr-adaptive", "csr-ell", true}};

/// The right side whose solution has entries of both signs between 0.5 and 1: a smooth one would be far
/// longer than the right side, and f32 could not tell when it is found.
std::vector<double> right_side(const SparseMatrix& a) {
  const auto x = [](VertexId i) {
    const double size = 0.5 + static_cast<double>(i * 2654435761u % 1024) / 2048;
    return i % 3 == 0 ? -size : size;
  };
  std::vector<double> b(a.num_rows, 0.0);
#pragma omp parallel for schedule(static)
  for (std::uint64_t row = 0; row < a.num_rows; ++row)
    for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
      b[row] += a.values[k] * x(a.col_indices[k]);
  return b;
}

/// Building of the first format included; a step: a product, two inner products, three sums of vectors.
template <class S>
Json solve(FormatBench<S>& bench, const SparseMatrix& matrix, const std::vector<double>& b, const Way& way,
           int max_iterations) {
  const auto start = std::chrono::steady_clock::now();
  OverlappedProduct<S> product(matrix.view(), way.first, way.better, bench.backend);
  if (!way.overlap) product.finish_preparing();
  const double prepared = seconds_since(start);
  CgOptions options;
  options.tolerance = sizeof(S) == 4 ? 1e-5 : 1e-8;
  options.max_iterations = max_iterations;
  options.observer = [&](const CgProgress&) { return seconds_since(start) < bench.settings.seconds; };
  const CgResult result = conjugate_gradients<S>(
      [&](const Buffer<S>& p, Buffer<S>& q) { product.multiply(p, q); }, b, options, bench.backend);
  const double seconds = seconds_since(start);
  const double flops =
      2.0 * static_cast<double>(matrix.num_nonzeros()) + 10.0 * static_cast<double>(b.size());
  product.finish_preparing();
  Json json = {{"way", way.name},
               {"seconds", seconds},
               {"seconds_before_first_step", prepared},
               {"iterations", result.iterations},
               {"converged", result.converged},
               {"relative_residual", result.relative_residual},
               {"gflops", 1e-9 * flops * result.iterations / seconds},
               {"prepare_seconds", product.prepare_seconds()},
               {"switched_after_products", product.switched_after()}};
  if (!product.refusal().empty()) json["refused"] = product.refusal();
  if (!std::isfinite(result.relative_residual)) bench.all_right = false;
  return json;
}

template <class S>
void measure_system(FormatBench<S>& bench, const std::string& name, const SparseMatrix& matrix) {
  constexpr int kMostIterations = 3000, kWarmUp = 3;
  Json line = new_line(bench, "cg", "Matam and Kothapalli 2011: 8");
  line["matrix"] = name;
  line["stand_in_of"] = "a positive definite matrix with more than 100000 rows";
  line["scaled_by"] = bench.settings.shrink;
  add_sizes(line, matrix);
  line["solves"] = Json::array();
  const std::vector<double> b = right_side(matrix);
  for (const Way& way : kWays) solve(bench, matrix, b, way, kWarmUp);  // a device loads its kernels
  for (const Way& way : kWays) line["solves"].push_back(solve(bench, matrix, b, way, kMostIterations));
  print_line(line);
}

}  // namespace

template <class S>
void measure_cg(FormatBench<S>& bench) {
  for (const GridSystem& grid : grid_systems())
    guarded(bench, grid.name, [&] {
      measure_system(bench, grid.name,
                     grid_laplacian(grid, static_cast<std::uint32_t>(bench.settings.shrink)));
    });
  guarded(bench, "power-law graph", [&] {
    constexpr int kScale = 20;
    const int smaller = static_cast<int>(std::log2(static_cast<double>(bench.settings.shrink)));
    measure_system(bench, "Laplacian of a power-law graph", graph_laplacian(std::max(1, kScale - smaller)));
  });
}

template void measure_cg(FormatBench<float>&);
template void measure_cg(FormatBench<double>&);

}  // namespace tessera::bench
