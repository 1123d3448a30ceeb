#include "tools/backend_choice.hpp"

#include "kernels/base/error.hpp"
#include "tools/log.hpp"

namespace tessera::cli {

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
