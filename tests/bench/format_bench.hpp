// What the groups of format_bench share: where to compute, comparing forms within a time, lines of JSON.
#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/product_comparison.hpp"
#include "kernels/base/seconds_since.hpp"
#include "tests/bench/stand_in_matrices.hpp"

namespace tessera::bench {

using Json = nlohmann::ordered_json;

struct FormatBenchSettings {
  std::string backend = "cuda", precision = "f32";
  int repeat = 20;
  double seconds = 10;       ///< after which no further form of a matrix is built, no CG goes on
  std::uint64_t shrink = 1;  ///< divides the sizes of all stand-ins
  std::vector<std::string> groups, files;
};

template <class S>
struct FormatBench {
  const FormatBenchSettings& settings;
  Backend<S>& backend;
  double copy_gb_per_s;
  bool all_right = true;  ///< every product so far

  bool on_device() const { return !backend.memory_is_host(); }
};

/// A line of a group: what it is about, to be filled.
template <class S>
Json new_line(const FormatBench<S>& bench, const std::string& group, const std::string& figures) {
  return {{"group", group},
          {"figures", figures},
          {"backend", bench.backend.name()},
          {"device", bench.backend.description()},
          {"precision", bench.settings.precision},
          {"copy_gb_per_s", bench.copy_gb_per_s}};
}
/// "matrix" and whose place it takes, or its file.
void name_stand_in(Json& line, const StandIn& stand_in, std::uint64_t shrink);
void name_file(Json& line, const std::string& path);
/// Rows, columns, non-zeros and row lengths.
void add_sizes(Json& line, const SparseMatrix& matrix);
/// Standard output, at once.
void print_line(const Json& line);

/// Each of `names` as product with `matrix`, measured: "formats" of a line. `candidates`: of which a trial
/// finds "auto".
template <class S>
void add_formats(FormatBench<S>& bench, Json& line, const std::vector<std::string>& names,
                 const ProductFactory<S>& make, const SparseMatrix& matrix,
                 const std::vector<std::string>& candidates = {});

// The groups. A matrix that fails is told on standard error and counts as not right.
template <class S>
void measure_products(FormatBench<S>& bench, const std::string& group);
template <class S>
void measure_batches(FormatBench<S>& bench);
template <class S>
void measure_cg(FormatBench<S>& bench);

/// Runs `work` for what is called `name`; tells of an exception and goes on.
template <class S, class Work>
void guarded(FormatBench<S>& bench, const std::string& name, const Work& work);
/// One line on standard error.
void tell_failure(const std::string& name, const std::string& what);

template <class S, class Work>
void guarded(FormatBench<S>& bench, const std::string& name, const Work& work) {
  try {
    work();
  } catch (const std::exception& error) {
    tell_failure(name, error.what());
    bench.all_right = false;
  }
}

}  // namespace tessera::bench
