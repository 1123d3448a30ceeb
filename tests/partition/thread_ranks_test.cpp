// The Communicator contract for ranks as threads, and that a failing rank leaves nobody hanging.
#include "tests/support/thread_ranks.hpp"

#include "tests/partition/communicator_contract.hpp"

namespace tessera {
namespace {

class ThreadRanks : public testing::TestWithParam<int> {};

TEST_P(ThreadRanks, KeepTheContract) {
  test::run_ranks(GetParam(), [](Communicator& comm) {
    test::check_reductions(comm);
    test::check_broadcast(comm);
    test::check_all_gather(comm);
    test::check_all_to_all(comm);
    test::check_send_and_receive(comm);
    test::check_run_together(comm);
  });
}

TEST_P(ThreadRanks, RethrowTheErrorOfARankThatLeftTheOthersWaiting) {
  auto failing = [](Communicator& comm) {
    if (comm.rank() == comm.size() - 1) throw InputError("mine");
    comm.barrier();
  };
  try {
    test::run_ranks(GetParam(), failing);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "mine");
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadRanks, testing::Values(1, 2, 3, 7));

TEST(ThreadRanksGroup, ARankThatEndsEarlyBreaksACollectiveOfTheOthers) {
  EXPECT_THROW(test::run_ranks(2,
                               [](Communicator& comm) {
                                 if (comm.is_root()) comm.barrier();
                               }),
               InternalError);
}

TEST(ThreadRanksGroup, ReceivingFromARankThatEndedThrows) {
  EXPECT_THROW(test::run_ranks(2,
                               [](Communicator& comm) {
                                 if (comm.is_root()) comm.receive(1);
                               }),
               InternalError);
}

}  // namespace
}  // namespace tessera
