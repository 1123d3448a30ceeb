// Ranks as threads of one process, so that everything written against Communicator is tested with several
// ranks without MPI (and under the sanitizers).
#pragma once
#include <functional>

#include "partition/communicator.hpp"

namespace tessera::test {

/// Runs `body` once on each of `num_ranks` threads (one OpenMP thread each, unless it asks for more), with a
/// communicator that joins them, and rethrows the exception that was thrown first. A rank that throws (or
/// ends) while others wait for it breaks the group: their calls throw InternalError instead of hanging.
void run_ranks(int num_ranks, const std::function<void(Communicator&)>& body);

}  // namespace tessera::test
