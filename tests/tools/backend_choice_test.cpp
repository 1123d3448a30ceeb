// What --backend becomes on machines that are made up.
#include "tools/backend_choice.hpp"

#include <gtest/gtest.h>

#include "kernels/base/error.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::cli {
namespace {

/// The answer of all ranks, "different" when they do not agree; `devices[rank]` answer on each machine.
std::string choice(const std::string& asked, int num_ranks, const std::vector<int>& devices,
                   int ranks_a_machine, int broken = -1) {
  std::vector<std::string> answers(static_cast<std::size_t>(num_ranks));
  test::run_ranks(num_ranks, [&](Communicator& comm) {
    const int machine = comm.rank() / ranks_a_machine;
    int used = 0;
    const DeviceFinder finder{
        [&] { return devices[static_cast<std::size_t>(machine)]; }, [&](int index) { used = index; },
        [&] { return used == broken ? "broken" : ""; },
        [&](int index) { return std::to_string(machine) + "-" + std::to_string(index); },
        [&] { return "host" + std::to_string(machine); }};
    answers[static_cast<std::size_t>(comm.rank())] = backend_for(asked, comm, finder);
  });
  for (const std::string& answer : answers)
    if (answer != answers.front()) return "different";
  return answers.front();
}

TEST(BackendChoice, AutoTakesGpusOnlyIfEveryRankHasItsOwn) {
  EXPECT_EQ(choice("auto", 4, {4}, 4), "cuda");
  EXPECT_EQ(choice("auto", 4, {2, 2}, 2), "cuda");
  EXPECT_EQ(choice("auto", 4, {3}, 4), "cpu");
  EXPECT_EQ(choice("auto", 4, {2, 1}, 2), "cpu") << "the ranks of the first machine alone would have enough";
  EXPECT_EQ(choice("auto", 3, {0}, 3), "cpu");
  EXPECT_EQ(choice("auto", 2, {2}, 2, 1), "cpu") << "one of them does not run this program";
}

TEST(BackendChoice, OneProcessGoesToTheCpuWhereItsGpuCannotServe) {
  EXPECT_EQ(choice("auto", 1, {1}, 1), "auto");
  EXPECT_EQ(choice("auto", 1, {0}, 1, 0), "auto") << "there is none to look at";
  EXPECT_EQ(choice("auto", 1, {1}, 1, 0), "cpu");
}

TEST(BackendChoice, NoGpuIsAskedForAGraphThatTheCpuRanksSooner) {
  int asked_devices = 0;
  const DeviceFinder finder{[&] { return ++asked_devices, 1; }, [](int) {}, [] { return std::string(); },
                            [](int) { return std::string("0"); }, [] { return std::string("host"); }};
  const auto comm = make_single_rank();
  const auto choose = [&](const std::string& asked, EdgeOffset num_edges, std::uint64_t num_vectors) {
    return backend_for_graph(asked, num_edges, num_vectors, *comm, finder);
  };
  EXPECT_EQ(choose("auto", 1000, 1), "cpu");
  EXPECT_EQ(choose("auto", 1 << 21, 1), "cpu");
  EXPECT_EQ(choose("auto", 1000, 2097), "cpu");
  EXPECT_EQ(asked_devices, 0);
  EXPECT_EQ(choose("auto", (1 << 21) + 1, 1), "auto");
  EXPECT_EQ(choose("auto", 1001, 2097), "auto");
  EXPECT_EQ(choose("auto", 1, ~std::uint64_t{0}), "auto");
  EXPECT_GT(asked_devices, 0);
  EXPECT_EQ(choose("cpu", 1 << 30, 1), "cpu");
}

TEST(BackendChoice, AGpuStartsBesideReadingWhereItIsLikelyToBeTaken) {
  const bool has_cuda = backend_names().size() > 2;
  const auto starts = [](const std::string& asked, std::uint64_t file_bytes, std::uint64_t num_vectors) {
    const auto comm = make_single_rank();
    const std::future<void> start = start_gpu_beside(asked, file_bytes, num_vectors, *comm);
    if (start.valid()) start.wait();  // whether there is one or not
    return start.valid();
  };
  EXPECT_FALSE(starts("cpu", std::uint64_t{1} << 40, 1));
  EXPECT_FALSE(starts("auto", 0, 25));
  EXPECT_FALSE(starts("auto", 1 << 25, 1));
  EXPECT_EQ(starts("auto", (1 << 25) + 16, 1), has_cuda);
  EXPECT_EQ(starts("auto", 1 << 25, 2), has_cuda);
  if (has_cuda) {
    EXPECT_TRUE(starts("cuda", 0, 1));
  }
}

TEST(BackendChoice, GpusOfSeveralProcessesStartBesideReadingWhereEachHasItsOwn) {
  const auto start_with = [](int num_devices, std::uint64_t bytes_of_last) {
    std::vector<int> started(3, -1);
    test::run_ranks(3, [&](Communicator& comm) {
      const DeviceFinder finder{[&] { return num_devices; }, [](int) { FAIL() << "it is not started here"; },
                                [] { return std::string(); }, [](int index) { return std::to_string(index); },
                                [] { return std::string("host"); }};
      const std::uint64_t bytes = comm.rank() == 2 ? bytes_of_last : 1 << 26;
      started[static_cast<std::size_t>(comm.rank())] =
          start_gpu_beside("auto", bytes, 1, comm, finder).valid() ? 1 : 0;
    });
    return started;
  };
  const int has_cuda = backend_names().size() > 2 ? 1 : 0;
  EXPECT_EQ(start_with(3, 1 << 26), std::vector<int>(3, has_cuda));
  EXPECT_EQ(start_with(2, 1 << 26), std::vector<int>(3, 0)) << "two would share one";
  EXPECT_EQ(start_with(3, 0), std::vector<int>(3, 0)) << "a rank that finds no file decides for all";
}

TEST(BackendChoice, WhatIsAskedForIsTakenOrRefusedWithTheRanksThatWouldShare) {
  EXPECT_EQ(choice("cuda", 2, {2}, 2), "cuda");
  EXPECT_EQ(choice("cpu", 2, {2}, 2), "cpu");
  try {
    choice("cuda", 3, {2}, 3);
    FAIL() << "no error";
  } catch (const ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find("ranks 0 and 2"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("--backend cpu"), std::string::npos) << error.what();
  }
  EXPECT_THROW(choice("cuda", 2, {0}, 2), ResourceError);
  EXPECT_THROW(choice("cuda", 2, {2}, 2, 0), ResourceError);
}

}  // namespace
}  // namespace tessera::cli
