#include "tools/backend_choice.hpp"

#include "kernels/base/error.hpp"
#include "tools/log.hpp"

namespace tessera::cli {

Option& add_backend_option(OptionTable& options, std::string& backend, const std::string& help) {
  Choices<std::string> choices;
  for (const std::string& name : backend_names()) choices.push_back({name, name});
  return options.choice<std::string>("backend", backend, choices, help);
}

std::string backend_for(const std::string& asked, Communicator& comm, const DeviceFinder& finder) {
  if (comm.size() == 1) {
    if (asked != "auto") make_backend<float>(asked);
    return asked;
  }
  if (asked == "cpu") return asked;
  const std::string problem = assign_devices(comm, finder);
  if (!problem.empty() && asked == "cuda") throw ResourceError(problem);
  if (problem.empty()) return "cuda";
  log_detail("the CPU computes: " + problem);
  return "cpu";
}

PerfTable load_tables(const std::string& backend, Communicator& comm) {
  PerfTable table = load_perf_table(comm);
  if (backend != "cpu") table.gpu = load_device_rates(comm);
  return table;
}

}  // namespace tessera::cli
