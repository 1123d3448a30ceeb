// Which rank takes which GPU, on machines that are made up.
#include "engine/device_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/base/error.hpp"
#include "tests/support/linked_backend.hpp"
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
  int lost = -1;             ///< the one that does not answer at all
};

std::string problem_of(const Machines& machines, int num_ranks, std::vector<int>& used) {
  std::string problem;
  used.assign(static_cast<std::size_t>(num_ranks), -1);
  run_ranks(num_ranks, [&](Communicator& comm) {
    const int rank = comm.rank(), machine = rank / machines.ranks_a_machine;
    int device = -1;
    const auto number = [&](int index) {
      return machines.one_visible ? rank % machines.ranks_a_machine : index;
    };
    const DeviceFinder finder{[&] { return machines.one_visible ? 1 : machines.devices; },
                              [&](int index) {
                                device = number(index);
                                if (index == machines.taken) throw ResourceError("busy");
                              },
                              [&] { return device == machines.broken ? "no code for it" : ""; },
                              [&](int index) {
                                if (index == machines.lost) throw ResourceError("lost");
                                return "gpu" + std::to_string(machine) + "-" + std::to_string(number(index));
                              },
                              [&] { return "host" + std::to_string(machine); }};
    const OwnDevice own = own_device(comm, finder);
    EXPECT_EQ(device, -1) << "none has started";
    const std::string mine = assign_devices(comm, finder);
    if (own.problem.empty()) {
      EXPECT_EQ(device, number(own.index));
    } else {
      EXPECT_EQ(mine, own.problem);
    }
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
  EXPECT_EQ(problem_of({.ranks_a_machine = 2, .devices = 2, .lost = 1}, 2, used), "rank 1: lost");
}

/// A backend that links as it is told to, and notes what it is asked.
class NotingBackend : public test::LinkedBackend<float> {
 public:
  struct Answers {
    int without_offer = -1, without_way = -1, unheard = -1, failing = -1;  ///< ranks
  };
  NotingBackend(Communicator& comm, const Answers& answers)
      : LinkedBackend(comm, {}), rank_(comm.rank()), answers_(answers) {}

  std::string peer_offer(int rank, int num_ranks) override {
    notes += "offer " + std::to_string(rank) + " of " + std::to_string(num_ranks) + "; ";
    return rank_ == answers_.without_offer ? std::string() : std::string(1, '\0') + std::to_string(rank);
  }
  bool open_peers(std::span<const std::string> offers) override {
    notes += "open";
    for (const std::string& offer : offers) notes += " " + offer.substr(1);
    notes += "; ";
    if (rank_ == answers_.failing) throw ResourceError("no board");
    return rank_ != answers_.without_way;
  }
  bool hears_peers() override {
    notes += "hear; ";
    return rank_ != answers_.unheard;
  }
  void settle_peers(bool are_linked) override { notes += are_linked ? "linked" : "not linked"; }

  std::string notes;

 private:
  int rank_;
  Answers answers_;
};

/// The notes of rank 1 of 3, and whether ranks have joined in another way.
std::string notes_of(const NotingBackend::Answers& answers, LinkKind kind = LinkKind::any) {
  std::string notes;
  run_ranks(3, [&](Communicator& comm) {
    NotingBackend backend(comm, answers);
    EXPECT_TRUE(start_linking<float>(backend, comm, kind));
    if (comm.rank() == 1) notes = backend.notes + (backend.joined().empty() ? "" : ", joined");
  });
  return notes;
}

TEST(DeviceRanks, LinkByEachOthersMemoryWhereAllReachIt) {
  EXPECT_EQ(notes_of({}), "offer 1 of 3; open 0 1 2; hear; linked");
}

TEST(DeviceRanks, LinkOtherwiseWhereARankDoesNotReachThatOfAnother) {
  EXPECT_EQ(notes_of({.without_offer = 2}), "offer 1 of 3; not linked, joined");
  EXPECT_EQ(notes_of({.without_way = 0}), "offer 1 of 3; open 0 1 2; not linked, joined");
  EXPECT_EQ(notes_of({.unheard = 2}), "offer 1 of 3; open 0 1 2; hear; not linked, joined");
  EXPECT_EQ(notes_of({}, LinkKind::nccl), ", joined");
}

TEST(DeviceRanks, AnErrorOfLinkingIsThatOfAllRanks) {
  run_ranks(3, [](Communicator& comm) {
    NotingBackend backend(comm, {.failing = 1});
    try {
      start_linking<float>(backend, comm);
      ADD_FAILURE() << "no error";
    } catch (const ResourceError& error) {
      EXPECT_THAT(error.what(), HasSubstr("no board"));
    }
  });
}

}  // namespace
}  // namespace tessera
