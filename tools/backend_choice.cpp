#include "tools/backend_choice.hpp"

#include "kernels/backend.hpp"
#include "kernels/base/error.hpp"

namespace tessera::cli {

std::string backend_for(const std::string& asked, const Communicator& comm) {
  if (asked == "cuda" && comm.size() > 1)
    throw OptionError("--backend cuda works with one process; run without mpirun or with --backend cpu");
  if (comm.size() > 1) return "cpu";
  if (asked != "auto") make_backend<float>(asked);
  return asked;
}

}  // namespace tessera::cli
