#include "tools/backend_choice.hpp"

#include "engine/device_ranks.hpp"
#include "kernels/base/error.hpp"

namespace tessera::cli {

std::string backend_for(const std::string& asked, Communicator& comm) {
  if (comm.size() == 1) {
    if (asked != "auto") make_backend<float>(asked);
    return asked;
  }
  if (asked == "cpu") return asked;
  const std::string problem = assign_devices(comm);
  if (!problem.empty() && asked == "cuda") throw ResourceError(problem);
  return problem.empty() ? "cuda" : "cpu";
}

}  // namespace tessera::cli
