// Which rank takes which GPU, on machines that are made up.
#include "engine/device_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/base/error.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera {
namespace {

using test::run_ranks;
using testing::HasSubstr;

/// Ranks 0, 1, ... on machines of `ranks_a_machine`, with `devices` GPUs each that `visible` processes see.
struct Machines {
  int ranks_a_machine, devices;
  bool one_visible = false;  ///< the launcher shows every process one GPU of its own
  int broken = -1;           ///< the device of each machine that does not run this build
  int taken = -1;            ///< the one that another program has for itself
};

std::string problem_of(const Machines& machines, int num_ranks, std::vector<int>& used) {
  std::string problem;
  used.assign(static_cast<std::size_t>(num_ranks), -1);
  run_ranks(num_ranks, [&](Communicator& comm) {
    const int rank = comm.rank(), machine = rank / machines.ranks_a_machine;
    int device = 0;
    const DeviceFinder finder{[&] { return machines.one_visible ? 1 : machines.devices; },
                              [&](int index) {
                                device = machines.one_visible ? rank % machines.ranks_a_machine : index;
                                if (index == machines.taken) throw ResourceError("busy");
                              },
                              [&] { return device == machines.broken ? "no code for it" : ""; },
                              [&] { return "gpu" + std::to_string(machine) + "-" + std::to_string(device); },
                              [&] { return "host" + std::to_string(machine); }};
    const std::string mine = assign_devices(comm, finder);
    used[static_cast<std::size_t>(rank)] = device;
    if (comm.is_root()) problem = mine;
  });
  return problem;
}

TEST(DeviceRanks, RanksOfAMachineTakeItsDevicesInTurn) {
  std::vector<int> used;
  EXPECT_EQ(problem_of({.ranks_a_machine = 2, .devices = 4}, 6, used), "");
  EXPECT_EQ(used, (std::vector{0, 1, 0, 1, 0, 1}));
}

TEST(DeviceRanks, OneVisibleDeviceEachIsEnough) {
  std::vector<int> used;
  EXPECT_EQ(problem_of({.ranks_a_machine = 4, .devices = 4, .one_visible = true}, 4, used), "");
}

TEST(DeviceRanks, ASharedDeviceIsNamedWithTheRemedy) {
  std::vector<int> used;
  const std::string problem = problem_of({.ranks_a_machine = 3, .devices = 2}, 3, used);
  EXPECT_THAT(problem, HasSubstr("ranks 0 and 2 would share one GPU (gpu0-0)"));
  EXPECT_THAT(problem, HasSubstr("--backend cpu"));
}

TEST(DeviceRanks, ARankWithoutADeviceIsNamed) {
  std::vector<int> used;
  EXPECT_THAT(problem_of({.ranks_a_machine = 1, .devices = 0}, 2, used), HasSubstr("rank 0 finds no GPU"));
}

TEST(DeviceRanks, ADeviceThatCannotServeIsNamedWithItsReason) {
  std::vector<int> used;
  EXPECT_EQ(problem_of({.ranks_a_machine = 2, .devices = 2, .broken = 1}, 4, used), "rank 1: no code for it");
  EXPECT_EQ(problem_of({.ranks_a_machine = 2, .devices = 2, .taken = 1}, 2, used), "rank 1: busy");
}

}  // namespace
}  // namespace tessera
