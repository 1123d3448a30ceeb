// The comparisons of the papers whose formats `tessera spmv`, `cg` and `batch` offer, on matrices like
// theirs:
//
//   format_bench [--backend cpu|cuda] [--precision f32|f64] [--repeat N] [--seconds LIMIT_PER_MATRIX]
//                [--shrink N] GROUP... [FILE...]
//
// GROUP: power-law, unstructured, ellpack, densities, cg, batches. One JSON object a line. Matrices are
// generated (stand_in_tables.hpp), their sizes divided by --shrink; those of FILE (Matrix Market) join
// "unstructured", small ones "batches", too. Ends with 1 when a product was wrong or a matrix failed.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "kernels/base/error.hpp"
#include "tests/bench/format_bench.hpp"
#ifdef TESSERA_HAVE_CUDA
#include "tests/bench/device_timer.hpp"
#endif

namespace tessera::bench {
namespace {

const std::vector<std::string> kGroups = {"power-law", "unstructured", "ellpack",
                                          "densities", "cg",           "batches"};

/// From 1 to a thousand million.
template <class T>
T number(const std::string& option, const std::string& text) {
  constexpr T kMost = 1000000000;
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 1 && value <= kMost))
    throw OptionError(option + ": expected a number from 1, found \"" + text + "\"");
  return value;
}

FormatBenchSettings parse(int argc, char** argv) {
  FormatBenchSettings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      const bool is_group = std::ranges::find(kGroups, word) != kGroups.end();
      if (!is_group && !std::filesystem::exists(word))
        throw OptionError("\"" + word + "\" is neither a group nor a file");
      (is_group ? settings.groups : settings.files).push_back(word);
      continue;
    }
    if (i + 1 == argc) throw OptionError(word + ": expected a value");
    const std::string value = argv[++i];
    if (word == "--backend")
      settings.backend = value;
    else if (word == "--precision" && (value == "f32" || value == "f64"))
      settings.precision = value;
    else if (word == "--repeat")
      settings.repeat = number<int>(word, value);
    else if (word == "--seconds")
      settings.seconds = number<double>(word, value);
    else if (word == "--shrink")
      settings.shrink = number<std::uint64_t>(word, value);
    else
      throw OptionError("unknown option " + word + " " + value);
  }
  if (settings.groups.empty()) throw OptionError("expected a group: power-law, unstructured, ...");
  return settings;
}

/// Bytes read and written a second, in 10^9, by a copy on the host with all threads.
double host_copy_rate() {
  constexpr std::size_t kBytes = std::size_t{1} << 27, kPiece = std::size_t{1} << 20;
  constexpr int kRounds = 5;
  Buffer<char> from(kBytes), to(kBytes);
  double best = 0;
  for (int round = 0; round <= kRounds; ++round) {  // the first one touches the pages
    const auto start = std::chrono::steady_clock::now();
#pragma omp parallel for schedule(static)
    for (std::size_t first = 0; first < kBytes; first += kPiece)
      if (round == 0)
        std::memset(from.data() + first, 1, kPiece);
      else
        std::memcpy(to.data() + first, from.data() + first, kPiece);
    if (round > 1) best = std::max(best, 2e-9 * static_cast<double>(kBytes) / seconds_since(start));
  }
  return best;
}

double copy_gb_per_s([[maybe_unused]] bool on_device) {
#ifdef TESSERA_HAVE_CUDA
  if (on_device) return 1e-9 * copy_rate();
#endif
  return host_copy_rate();
}

template <class S>
bool measure(const FormatBenchSettings& settings) {
  const auto backend = make_backend<S>(settings.backend);
  FormatBench<S> bench{
      .settings = settings, .backend = *backend, .copy_gb_per_s = copy_gb_per_s(!backend->memory_is_host())};
  for (const std::string& group : settings.groups) {
    const auto start = std::chrono::steady_clock::now();
    if (group == "batches")
      measure_batches(bench);
    else if (group == "cg")
      measure_cg(bench);
    else
      measure_products(bench, group);
    std::fprintf(stderr, "format_bench: %s: %.1f s\n", group.c_str(), seconds_since(start));
  }
  return bench.all_right;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  try {
    const tessera::bench::FormatBenchSettings settings = tessera::bench::parse(argc, argv);
    const bool right = settings.precision == "f32" ? tessera::bench::measure<float>(settings)
                                                   : tessera::bench::measure<double>(settings);
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "format_bench: %s\n", error.what());
    return 1;
  }
}
