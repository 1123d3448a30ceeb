// The Communicator contract for one process.
#include "partition/communicator.hpp"

#include "tests/partition/communicator_contract.hpp"

namespace tessera {
namespace {

TEST(SingleRank, IsTheRootOfAGroupOfOne) {
  const auto comm = make_single_rank();
  EXPECT_EQ(comm->rank(), 0);
  EXPECT_EQ(comm->size(), 1);
  EXPECT_TRUE(comm->is_root());
}

TEST(SingleRank, KeepsTheContract) {
  const auto comm = make_single_rank();
  test::check_reductions(*comm);
  test::check_broadcast(*comm);
  test::check_all_gather(*comm);
  test::check_all_to_all(*comm);
  test::check_run_together(*comm);
}

TEST(SingleRank, ReceivesWhatItSentInOrder) {
  const auto comm = make_single_rank();
  const std::string first = "a", second = "b";
  comm->send(std::as_bytes(std::span(first)), 0);
  comm->send(std::as_bytes(std::span(second)), 0);
  EXPECT_EQ(comm->receive(0), "a");
  EXPECT_EQ(comm->receive(0), "b");
  EXPECT_THROW(comm->receive(0), InternalError);
}

}  // namespace
}  // namespace tessera
