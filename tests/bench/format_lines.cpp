// Lines of format_bench: sizes, names, and forms of a product measured.
#include <algorithm>
#include <cstdio>

#include "engine/format_choice.hpp"
#include "kernels/base/error.hpp"
#include "tests/bench/format_bench.hpp"

namespace tessera::bench {
namespace {

Json json_of(const ProductMeasurement& m, std::uint64_t num_nonzeros, double copy_gb_per_s) {
  if (!m.refusal.empty()) return {{"format", m.name}, {"refused", m.refusal}};
  const auto size = static_cast<double>(std::max<std::uint64_t>(1, num_nonzeros));
  const double rate = 1e-9 * static_cast<double>(m.bytes_moved) / m.median_seconds;
  return {{"format", m.name},
          {"median_ms", 1e3 * m.median_seconds},
          {"gflops", 2e-9 * size / m.median_seconds},
          {"gbytes_per_s", rate},
          {"of_copy", rate / copy_gb_per_s},
          {"bytes_per_nonzero", static_cast<double>(m.stats.bytes) / size},
          {"padding", static_cast<double>(m.stats.num_stored) / size - 1},
          {"build_in_products", m.build_seconds / m.median_seconds},
          {"right", m.is_right()}};
}

}  // namespace

void name_stand_in(Json& line, const StandIn& stand_in, std::uint64_t shrink) {
  line["matrix"] = stand_in.name;
  line["stand_in_of"] = stand_in.name;
  line["scaled_by"] = stand_in.scaled_by * shrink;
}

void name_file(Json& line, const std::string& path) {
  line["matrix"] = path.substr(path.rfind('/') + 1);
  line["file"] = line["matrix"];
}

void add_sizes(Json& line, const SparseMatrix& matrix) {
  const RowLengthStats stats = row_length_stats(matrix.view());
  line["rows"] = stats.num_rows;
  line["columns"] = stats.num_cols;
  line["nonzeros"] = stats.num_nonzeros;
  line["row_length"] = {{"mean", stats.mean}, {"deviation", stats.deviation}, {"longest", stats.longest}};
}

void print_line(const Json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

void tell_failure(const std::string& name, const std::string& what) {
  std::fprintf(stderr, "format_bench: %s: %s\n", name.c_str(), what.c_str());
}

template <class S>
void add_formats(FormatBench<S>& bench, Json& line, const std::vector<std::string>& names,
                 const ProductFactory<S>& make, const SparseMatrix& matrix,
                 const std::vector<std::string>& candidates) {
  auto start = std::chrono::steady_clock::now();
  const ProductFactory<S> make_in_time = [&](const std::string& name) {
    if (seconds_since(start) > bench.settings.seconds)
      throw ResourceError("the time for this matrix is over");
    return make(name);
  };
  const ProductComparison<S> comparison(matrix.product_view());
  if (!candidates.empty()) {
    const auto tried = comparison.measure(candidates, make_in_time, bench.backend, trial_options());
    const ProductMeasurement* best = fastest(tried);
    line["auto"] = best != nullptr ? Json(best->name) : Json();
    start = std::chrono::steady_clock::now();  // the forms have as much time as without a trial
  }
  const auto measured = comparison.measure(names, make_in_time, bench.backend,
                                           {.repeat = bench.settings.repeat, .progress = nullptr});
  line["formats"] = Json::array();
  for (const ProductMeasurement& m : measured) {
    line["formats"].push_back(json_of(m, matrix.num_nonzeros(), bench.copy_gb_per_s));
    if (!m.refusal.empty() || m.is_right()) continue;
    tell_failure(line["matrix"], "the product of " + m.name + " is wrong");
    bench.all_right = false;
  }
  line["seconds"] = seconds_since(start);
}

template void add_formats(FormatBench<float>&, Json&, const std::vector<std::string>&,
                          const ProductFactory<float>&, const SparseMatrix&, const std::vector<std::string>&);
template void add_formats(FormatBench<double>&, Json&, const std::vector<std::string>&,
                          const ProductFactory<double>&, const SparseMatrix&,
                          const std::vector<std::string>&);

}  // namespace tessera::bench
