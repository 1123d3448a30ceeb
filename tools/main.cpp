// The program's start: signals, one process or the processes of an mpirun, then run_program.
#include <fcntl.h>
#include <unistd.h>

#include "kernels/base/error.hpp"
#include "partition/communicator.hpp"
#include "tools/log.hpp"
#include "tools/run_command.hpp"
#include "tools/stop_signal.hpp"
#include "tools/threads.hpp"
#ifdef TESSERA_HAVE_MPI
#include "partition/mpi_communicator.hpp"
#endif

#include <cstdlib>
#include <string>
#include <vector>

namespace {

/// A file opened where a standard descriptor is closed would receive what is meant for it. Standard output
/// stays one that cannot be written, so that lost scores are an error.
void occupy_standard_descriptors() {
  while (true) {
    const int descriptor = open("/dev/null", O_RDONLY);
    if (descriptor > 2) close(descriptor);
    if (descriptor < 0 || descriptor > 2) return;
  }
}

/// CUDA starts every GPU that it sees, and ends them, which takes 0.2 s each; one process takes the first.
void see_one_gpu() { setenv("CUDA_VISIBLE_DEVICES", "0", 0); }

#ifdef TESSERA_HAVE_MPI
int run_under_mpirun(int argc, char** argv, const std::vector<std::string>& arguments) {
  try {
    tessera::MpiSession session(argc, argv);
    const int exit_code = tessera::cli::run_program(arguments, *session.world());
    session.finish();  // also after an error: run_program has armed a time limit for ranks that wait in vain
    return exit_code;
  } catch (const tessera::Error& error) {  // of starting or ending MPI: there are no ranks to agree with
    tessera::cli::log_error(error.what());
    return static_cast<int>(error.category());
  }
}
#endif

}  // namespace

int main(int argc, char** argv) {
  tessera::cli::wait_politely(argv);
  occupy_standard_descriptors();
  tessera::cli::install_signal_handlers();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
#ifdef TESSERA_HAVE_MPI
  // Alone, MPI is left out: starting it takes longer than ranking a small graph.
  if (tessera::MpiSession::under_mpirun()) return run_under_mpirun(argc, argv, arguments);
#endif
  see_one_gpu();
  return tessera::cli::run_program(arguments, *tessera::make_single_rank());
}
