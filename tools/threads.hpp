// How many threads a process uses: what its affinity mask allows.
#pragma once
#include "partition/communicator.hpp"

namespace tessera::cli {

/// `asked` > 0 is taken as it is. Otherwise the cores of the affinity mask; where several processes of one
/// mpirun share an unbound machine, their share of it. Says in one line (rank 0) when mpirun has bound a
/// process to one of many cores. Sets the number for OpenMP and oneTBB; returns it.
int start_threads(int asked, Communicator& comm);

/// Processes of this job on this machine, as the launcher says; 1 when it does not.
int processes_on_this_machine();

}  // namespace tessera::cli
