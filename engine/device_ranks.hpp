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
  std::function<std::string(int)> uuid;  ///< of a device that need not be in use
  std::function<std::string()> host_name;
};
DeviceFinder this_machine();

/// The device that a rank's place among the ranks of its machine points to, counted round.
struct OwnDevice {
  int index = 0;
  /// Why not all ranks have one of their own, with the remedy, or nothing; the same on every rank.
  std::string problem;
};
/// Starts none. Collective.
OwnDevice own_device(Communicator& comm, const DeviceFinder& finder = this_machine());

/// Every rank takes its own_device(). Returns why not all can, with the remedy, or nothing; the same on every
/// rank. Collective.
std::string assign_devices(Communicator& comm, const DeviceFinder& finder = this_machine());

/// How devices may be linked.
enum class LinkKind { any, nccl };

/// Links the devices of all ranks where the backend can: by each other's memory, where that is asked for and
/// all reach it, else by NCCL, which goes on meanwhile. Says whether it can. Every rank calls
/// Backend::await_links() before values go from one to the other. Collective.
template <class S>
bool start_linking(Backend<S>& backend, Communicator& comm, LinkKind kind = LinkKind::any);

}  // namespace tessera
