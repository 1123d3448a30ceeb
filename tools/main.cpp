// The program's start: signals, one process or the processes of an mpirun, then run_program.
#include "partition/communicator.hpp"
#include "tools/run_command.hpp"
#include "tools/stop_signal.hpp"
#ifdef TESSERA_HAVE_MPI
#include "partition/mpi_communicator.hpp"
#endif

#include <string>
#include <vector>

int main(int argc, char** argv) {
  tessera::cli::install_signal_handlers();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
#ifdef TESSERA_HAVE_MPI
  // Alone, MPI is left out: starting it takes longer than ranking a small graph.
  if (tessera::MpiSession::under_mpirun()) {
    tessera::MpiSession session(argc, argv);
    const int exit_code = tessera::cli::run_program(arguments, *session.world());
    session.finish();  // also after an error: run_program has armed a time limit for ranks that wait in vain
    return exit_code;
  }
#endif
  return tessera::cli::run_program(arguments, *tessera::make_single_rank());
}
