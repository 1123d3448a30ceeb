#include "tools/backend_choice.hpp"

#include <algorithm>
#include <array>

#include "kernels/base/error.hpp"
#include "kernels/devices.hpp"
#include "tools/log.hpp"

namespace tessera::cli {
namespace {

/// By its letters cpu is nearest to the words for a GPU, and means the opposite.
std::string advice(std::string_view typed, std::span<const std::string> names) {
  constexpr std::array<std::string_view, 4> kWordsForGpu{"gpu", "GPU", "cuda", "CUDA"};
  if (std::find(kWordsForGpu.begin(), kWordsForGpu.end(), typed) == kWordsForGpu.end())
    return did_you_mean(typed, names);
  return std::find(names.begin(), names.end(), "cuda") != names.end()
             ? "; did you mean cuda?"
             : "; this program is built without cuda: build it where the CUDA Toolkit is";
}

/// Nobody has named the table that lies in the cache folder, so a damaged one fails no run. All ranks get the
/// same text, and the same error.
template <class Table>
Table loaded_or_default(Table (*load)(Communicator&), const Table& (*built_in)(), Communicator& comm) {
  try {
    return load(comm);
  } catch (const InputError& error) {
    log_warning(fmt::format("{}; the built-in table is taken", error.what()));
    return built_in();
  }
}

}  // namespace

Option& add_backend_option(OptionTable& options, std::string& backend, const std::string& help) {
  Choices<std::string> choices;
  for (const std::string& name : backend_names()) choices.push_back({name, name});
  return options.choice<std::string>("backend", backend, choices, help, advice);
}

std::string backend_for(const std::string& asked, Communicator& comm, const DeviceFinder& finder) {
  if (comm.size() == 1) {
    if (asked != "auto") make_backend<float>(asked);
    if (asked != "auto" || finder.count() == 0) return asked;
    const std::string problem = finder.problem();
    if (!problem.empty()) log_warning("the CPU computes: " + problem);
    return problem.empty() ? asked : "cpu";
  }
  if (asked == "cpu") return asked;
  const std::string problem = assign_devices(comm, finder);
  if (!problem.empty() && asked == "cuda") throw ResourceError(problem);
  if (problem.empty()) return "cuda";
  log_detail("the CPU computes: " + problem);
  return "cpu";
}

bool ends_before_a_gpu_starts(EdgeOffset num_edges, std::uint64_t num_vectors) {
  // One core ranks so many edges in the 0.4 s that a run takes with a GPU (docs/benchmarks.md).
  constexpr EdgeOffset kWorthAGpu = EdgeOffset{1} << 21;
  return num_edges <= kWorthAGpu / std::max<std::uint64_t>(num_vectors, 1);
}

std::string backend_for_graph(const std::string& asked, EdgeOffset num_edges, std::uint64_t num_vectors,
                              Communicator& comm, const DeviceFinder& finder) {
  if (asked != "auto" || !ends_before_a_gpu_starts(num_edges, num_vectors))
    return backend_for(asked, comm, finder);
  if (backend_names().size() > 2) log_detail("the CPU computes: it is done before a GPU has started");
  return "cpu";
}

std::future<void> start_gpu_beside(const std::string& asked, std::uint64_t file_bytes,
                                   std::uint64_t num_vectors, Communicator& comm,
                                   const DeviceFinder& finder) {
  constexpr std::uint64_t kBytesOfEdge = 16;  // those of large files mostly have fewer
  const bool may_start =
      asked == "cuda" || (asked == "auto" && backend_names().size() > 2 &&
                          !ends_before_a_gpu_starts(file_bytes / kBytesOfEdge, num_vectors));
  if (!all_true(comm, may_start)) return {};
  if (comm.size() == 1) return start_device();
  const OwnDevice own = own_device(comm, finder);
  if (!own.problem.empty()) return {};  // backend_for() says so
  std::future<void> start = start_device(own.index);
  return all_true(comm, start.valid()) ? std::move(start) : std::future<void>();
}

PerfTable load_tables(const std::string& backend, Communicator& comm) {
  PerfTable table = loaded_or_default(load_perf_table, default_perf_table, comm);
  if (backend != "cpu") table.gpu = loaded_or_default(load_device_rates, default_device_rates, comm);
  return table;
}

}  // namespace tessera::cli
