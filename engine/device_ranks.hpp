// One GPU for each rank: who takes which, and the link between them.
#pragma once
#include <functional>
#include <string>

#include "kernels/backend.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// How devices are found; tests bring their own.
struct DeviceFinder {
  std::function<int()> count;
  std::function<void(int)> use;
  std::function<std::string()> problem;  ///< of the device in use: why it cannot serve, or nothing
  std::function<std::string()> uuid;
  std::function<std::string()> host_name;
};
DeviceFinder this_machine();

/// Every rank takes the device that its place among the ranks of its machine points to, counted round.
/// Returns why the ranks cannot all have a device of their own, with the remedy, or nothing; the same on
/// every rank. Collective.
std::string assign_devices(Communicator& comm, const DeviceFinder& finder = this_machine());

/// Begins to link the devices of all ranks where the backend can; says whether it can. Every rank calls
/// Backend::await_links() before values go from one to the other. Collective.
template <class S>
bool start_linking(Backend<S>& backend, Communicator& comm);

}  // namespace tessera
