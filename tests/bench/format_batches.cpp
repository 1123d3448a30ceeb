// Batches of format_bench: many small matrices at once beside loops over single products.
#include <algorithm>
#include <filesystem>

#include "engine/matrix_batch.hpp"
#include "kernels/base/error.hpp"
#include "kernels/formats/batch_registry.hpp"
#include "tests/bench/format_bench.hpp"
#include "tests/bench/stand_in_tables.hpp"

namespace tessera::bench {
namespace {

constexpr std::uint64_t kMostRows = 1024, kLeastRowsOfAlike = 800;  // of the paper's batches

/// A small matrix, generated or from a file.
struct Part {
  std::string name, file;
  SparseMatrix matrix;
};

/// The paper's matrices: files where there are such of the same name, else stand-ins; other small files
/// behind them.
template <class S>
std::vector<Part> parts_of(FormatBench<S>& bench) {
  std::vector<Part> parts;
  for (const StandIn& s : batch_stand_ins()) parts.push_back({s.name, "", generate(s)});
  for (const std::string& path : bench.settings.files)
    guarded(bench, path, [&] {
      SparseMatrix matrix = read_matrix(path);
      if (matrix.num_rows != matrix.num_cols || matrix.num_rows > kMostRows) return;
      const std::filesystem::path file(path);
      const std::string name = file.filename().string().substr(0, file.filename().string().find('.'));
      const auto same = std::ranges::find(parts, name, &Part::name);
      Part& part = same != parts.end() ? *same : parts.emplace_back();
      part = {name, file.filename().string(), std::move(matrix)};
    });
  return parts;
}

template <class S>
std::vector<std::string> kernels_of(const FormatBench<S>& bench, bool with_loops) {
  std::vector<std::string> names;
  for (const BatchEntry& entry : all_batch_forms()) {
    const std::string name = entry.name;
    if (entry.needs_device && !bench.on_device()) continue;
    if (with_loops || !name.ends_with("loop")) names.push_back(name);
  }
  return names;
}

/// `views` at once; the line says what they are.
template <class S>
void measure_batch(FormatBench<S>& bench, Json& line, const std::vector<CsrView<double>>& views,
                   bool with_loops) {
  const SparseMatrix all = block_diagonal(views);
  const auto [smallest, largest] = std::ranges::minmax(views, {}, &CsrView<double>::num_rows);
  line["matrices"] = views.size();
  line["smallest_rows"] = smallest.num_rows;
  line["largest_rows"] = largest.num_rows;
  add_sizes(line, all);
  add_formats<S>(
      bench, line, kernels_of(bench, with_loops),
      [&](const std::string& name) -> std::unique_ptr<MatrixProduct<S>> {
        for (const BatchEntry& entry : all_batch_forms())
          if (name == entry.name)
            return with_vectors<S>(make_batch<S>(entry, views, bench.on_device()), all.num_rows, all.num_cols,
                                   bench.backend);
        throw InternalError("a batch without this kernel");
      },
      all);
  print_line(line);
}

template <class S>
void measure_copies(FormatBench<S>& bench, const std::string& figures, const Part& part, std::uint64_t count,
                    bool with_loops) {
  guarded(bench, part.name, [&] {
    Json line = new_line(bench, "batches", figures);
    line["batch"] = "homogeneous";
    if (part.file.empty())
      name_stand_in(line, {.name = part.name.c_str()}, 1);
    else
      name_file(line, part.file);
    measure_batch(bench, line, std::vector<CsrView<double>>(count, part.matrix.product_view()), with_loops);
  });
}

/// All matrices with at least so many rows, one after the other until there are `count`.
template <class S>
void measure_mixture(FormatBench<S>& bench, const std::string& figures, const std::vector<Part>& parts,
                     std::uint64_t least_rows, std::uint64_t count) {
  guarded(bench, figures, [&] {
    std::vector<CsrView<double>> some, views;
    for (const Part& part : parts)
      if (part.matrix.num_rows >= least_rows) some.push_back(part.matrix.product_view());
    for (std::uint64_t i = 0; i < count; ++i) views.push_back(some[i % some.size()]);
    Json line = new_line(bench, "batches", figures);
    line["batch"] = "heterogeneous";
    line["matrix"] = std::to_string(some.size()) + " matrices in turn";
    measure_batch(bench, line, views, true);
  });
}

/// 1,024 rows with the same mean length: all alike, or most of it in few rows.
std::vector<Part> of_density(std::uint64_t mean) {
  StandIn s{.name = "even rows", .num_rows = kMostRows, .num_cols = kMostRows};
  s.num_nonzeros = mean * kMostRows;
  s.longest = mean + 1;
  std::vector<Part> parts;
  const std::string suffix = ", mean " + std::to_string(mean);
  parts.push_back({s.name + suffix, "", generate(s)});
  s.name = "few long rows";
  s.longest = 0;
  s.lengths = Lengths::power;
  constexpr double kSteep = 1.5;
  s.steepness = kSteep;
  parts.push_back({s.name + suffix, "", generate(s)});
  return parts;
}

}  // namespace

template <class S>
void measure_batches(FormatBench<S>& bench) {
  // Less than the paper's 1,000 and 10,000 where the host would build for long.
  constexpr std::uint64_t kMany = 1000, kOfDensity = 250, kOfEach = 100;
  const std::uint64_t shrink = bench.settings.shrink;
  const auto fewer = [&](std::uint64_t count) { return std::max<std::uint64_t>(1, count / shrink); };
  const std::vector<Part> parts = parts_of(bench);
  for (const Part& part : parts)
    if (part.name == "gr_30_30" || part.name == "bp_1600" || part.name == "dwt_992")
      for (const std::uint64_t count : {kMany / 100, kMany / 10, kMany})
        measure_copies(bench, "Anzt et al. 2017: 3", part, fewer(count), true);
  for (const std::uint64_t mean : {2u, 8u, 32u})
    for (const Part& part : of_density(mean))
      measure_copies(bench, "Anzt et al. 2017: 4", part, fewer(kOfDensity), true);
  for (const Part& part : parts) measure_copies(bench, "Anzt et al. 2017: 5", part, fewer(kOfEach), false);
  measure_mixture(bench, "Anzt et al. 2017: 6", parts, kLeastRowsOfAlike, fewer(kMany));
  measure_mixture(bench, "Anzt et al. 2017: 7", parts, 0, fewer(kMany));
}

template void measure_batches(FormatBench<float>&);
template void measure_batches(FormatBench<double>&);

}  // namespace tessera::bench
