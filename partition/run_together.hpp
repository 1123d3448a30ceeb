// Ranks fail together: a phase that one rank alone can fail (reading, allocating, writing) runs inside
// run_together, so that an error of one rank becomes the same error on all of them.
#pragma once
#include <functional>

#include "partition/communicator.hpp"

namespace tessera {

/// Runs `phase` on every rank. If it throws anywhere, every rank throws the error of the lowest failing
/// rank (same category, same message; one rank alone the very Error, InternalError for what is none). `phase`
/// itself must not communicate, or must do so only at points that all ranks reach whatever their data.
void run_together(Communicator& comm, const std::function<void()>& phase);

}  // namespace tessera
