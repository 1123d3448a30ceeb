// The devices of all ranks linked at once; the program does other work in between.
#pragma once
#include "engine/device_ranks.hpp"
#include "partition/run_together.hpp"

namespace tessera::test {

/// start_linking(), and Backend::await_links(). Collective.
template <class S>
bool link_devices(Backend<S>& backend, Communicator& comm) {
  const bool can = start_linking(backend, comm);
  run_together(comm, [&] { backend.await_links(); });
  return can;
}

}  // namespace tessera::test
