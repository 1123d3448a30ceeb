// An error of one rank becomes the same error on all.
#include "partition/run_together.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <new>

#include "kernels/base/error.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera {
namespace {

TEST(RunTogether, PassesWhenNobodyFails) {
  for (int ranks : {1, 3}) {
    std::atomic<int> runs = 0;
    test::run_ranks(ranks, [&](Communicator& comm) { run_together(comm, [&] { ++runs; }); });
    EXPECT_EQ(runs, ranks);
  }
}

TEST(RunTogether, EveryRankThrowsTheErrorOfTheLowestFailingRank) {
  std::atomic<int> caught = 0;
  test::run_ranks(4, [&](Communicator& comm) {
    try {
      run_together(comm, [&] {
        if (comm.rank() == 2) throw InputError("a.txt:2: bad");
        if (comm.rank() == 3) throw OptionError("worse");
      });
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "a.txt:2: bad");
      ++caught;
    }
  });
  EXPECT_EQ(caught, 4);
}

TEST(RunTogether, GroupGoesOnAfterAnError) {
  test::run_ranks(3, [](Communicator& comm) {
    EXPECT_THROW(run_together(comm,
                              [&] {
                                if (comm.rank() == 1) throw InputError("x");
                              }),
                 InputError);
    EXPECT_EQ(all_sum(comm, std::uint64_t{1}), 3u);
  });
}

TEST(RunTogether, OneRankKeepsTheTypeOfItsError) {
  const auto comm = make_single_rank();
  EXPECT_THROW(run_together(*comm, [] { throw NoRoomError("x"); }), NoRoomError);
}

TEST(RunTogether, MemoryThatCannotBeHadIsAResourceError) {
  for (int ranks : {1, 2})
    test::run_ranks(ranks, [](Communicator& comm) {
      EXPECT_THROW(run_together(comm, [] { throw std::bad_alloc(); }), ResourceError);
    });
}

TEST(RunTogether, ForeignExceptionsBecomeInternalErrors) {
  const auto comm = make_single_rank();
  try {
    run_together(*comm, [] { throw std::out_of_range("vector::at"); });
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "vector::at");
  }
}

TEST(RunTogether, InterruptionKeepsItsCategory) {
  test::run_ranks(2, [](Communicator& comm) {
    try {
      run_together(comm, [&] {
        if (comm.rank() == 0) throw Error(ErrorCategory::interrupted, "stopped");
      });
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), ErrorCategory::interrupted);
    }
  });
}

}  // namespace
}  // namespace tessera
