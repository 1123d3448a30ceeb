// How many threads a process uses: what its affinity mask allows.
#pragma once
#include <optional>

#include "partition/communicator.hpp"

namespace tessera::cli {

/// `asked` > 0 is taken as it is. Otherwise the cores of the affinity mask; where several processes of one
/// mpirun have the same ones, their share. Says in one line (rank 0) when mpirun has bound a process to one
/// of many cores. Sets the number for OpenMP and oneTBB; returns it. Throws ResourceError where so many
/// threads cannot be started. Collective.
int start_threads(int asked, Communicator& comm);

/// A variable of the environment by which OpenMP knows how its threads wait.
struct WaitSetting {
  const char *name, *value;
};
/// On a machine of so many cores, whose load was that in the last minute: where other work keeps half of them
/// busy, threads are to sleep, and where there are many, soon instead of after some 15 ms. Spinning, they
/// would keep cores from the threads that they wait for: small graphs took up to 60 times as long beside
/// other work, runs on 64 cores of a shared host up to 7 times (docs/benchmarks.md). Else nothing.
std::optional<WaitSetting> wait_setting(long cores, double load);

/// At the very start: puts that into effect, unless the environment says how threads wait. OpenMP looks there
/// when it is loaded, so the program replaces itself by its like, which takes 5 ms; where it cannot, it goes
/// on as it is.
void wait_politely(char** argv);

/// Processes of this job on this machine, as the launcher says; 1 when it does not.
int processes_on_this_machine();

}  // namespace tessera::cli
