// Run under mpirun with several numbers of ranks: the Communicator contract over MPI, and that a graph
// built by MPI ranks is the naive one. Rank 0 alone prints; a failure on any rank fails the job.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "kernels/base/error.hpp"
#include "kernels/base/lost_rank.hpp"
#include "partition/mpi_communicator.hpp"
#include "tests/engine/graph_cases.hpp"
#include "tests/partition/communicator_contract.hpp"

namespace tessera {
namespace {

Communicator* world = nullptr;
Communicator* world_in_pieces = nullptr;  // messages cut after 1000 bytes
Communicator* late_world = nullptr;       // whose calls are given up
Communicator* late_gatherer = nullptr;

TEST(MpiCommunicator, Reduces) { test::check_reductions(*world); }
TEST(MpiCommunicator, Broadcasts) { test::check_broadcast(*world); }
TEST(MpiCommunicator, Gathers) { test::check_all_gather(*world); }
TEST(MpiCommunicator, ExchangesAllToAll) { test::check_all_to_all(*world); }
TEST(MpiCommunicator, FailsTogether) { test::check_run_together(*world); }

TEST(MpiCommunicator, SendsAndReceivesInOrder) {
  if (world->size() > 1) test::check_send_and_receive(*world);
}

TEST(MpiCommunicator, KeepsTheContractWithMessagesCutIntoPieces) {
  test::check_reductions(*world_in_pieces);
  test::check_broadcast(*world_in_pieces);
  test::check_all_gather(*world_in_pieces);
  test::check_all_to_all(*world_in_pieces);
  std::string text(world->is_root() ? 12345 : 0, 'x');
  world_in_pieces->broadcast(text, 0);
  EXPECT_EQ(text, std::string(12345, 'x'));
  std::vector<std::uint64_t> values(1001, 1);
  world_in_pieces->all_sum(std::span(values));
  EXPECT_EQ(values, std::vector<std::uint64_t>(1001, static_cast<std::uint64_t>(world->size())));
}

TEST(MpiCommunicator, ARankThatDoesNotAnswerIsNoticedInTime) {
  if (world->size() == 1) return;
  late_world->set_answer_seconds(world->is_root() ? 30 : 0.3);
  if (world->is_root()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    EXPECT_EQ(all_sum(*late_world, std::uint64_t{1}), static_cast<std::uint64_t>(world->size()));
  } else {
    EXPECT_THROW(all_sum(*late_world, std::uint64_t{1}), LostRankError);
  }
  world->barrier();
}

TEST(MpiCommunicator, GathersWithATimeLimitToo) {
  for (Communicator* comm : {world, world_in_pieces}) {
    comm->set_answer_seconds(10);
    test::check_all_gather(*comm);
    comm->set_answer_seconds(0);
  }
}

TEST(MpiCommunicator, AGatherThatARankDoesNotJoinIsGivenUp) {
  if (world->size() == 1) return;
  late_gatherer->set_answer_seconds(world->is_root() ? 30 : 0.3);
  if (world->is_root()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    EXPECT_EQ(all_gather(*late_gatherer, std::uint64_t{1}).size(), static_cast<std::size_t>(world->size()));
  } else {
    EXPECT_THROW(all_gather(*late_gatherer, std::uint64_t{1}), LostRankError);
  }
  world->barrier();
}

TEST(MpiSession, LeavesMpiToAProgramThatHasStartedIt) {
  int argc = 0;
  char** argv = nullptr;
  MpiSession second(argc, argv);
  const auto comm = second.world();
  EXPECT_EQ(all_sum(*comm, std::uint64_t{1}), static_cast<std::uint64_t>(world->size()));
  second.finish();
  EXPECT_EQ(all_sum(*world, std::uint64_t{1}), static_cast<std::uint64_t>(world->size()));
}

TEST(MpiSession, KnowsThatALauncherStartedIt) { EXPECT_TRUE(MpiSession::under_mpirun()); }

test::Case some_case(LabelKind kind, bool weighted) {
  test::Case c;
  c.kind = kind;
  c.weighted = weighted;
  c.declared_vertices = 60;
  c.undirected = weighted;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const std::uint64_t hash = (i + 1) * 0x9E3779B97F4A7C15u;
    c.edges.push_back({std::to_string((hash >> 40) % 60 + 1), std::to_string((hash >> 50) % 60 + 1),
                       static_cast<double>(hash >> 12) * 0x1p-50});
  }
  return c;
}

/// The rows of this rank against those of the naive graph.
void expect_block_of(const test::PlainGraph& expected, const Graph& graph) {
  EXPECT_EQ(graph.num_edges, expected.num_edges);
  EXPECT_EQ(graph.num_vertices, expected.labels.size());
  EXPECT_EQ(graph.facts.self_loops, expected.self_loops);
  EXPECT_EQ(graph.facts.duplicate_edges, expected.duplicate_edges);
  const std::uint64_t base = expected.row_offsets[graph.first_row];
  for (std::uint64_t r = 0; r < graph.num_local_rows; ++r) {
    const auto id = static_cast<VertexId>(graph.first_row + r);
    EXPECT_EQ(graph.labels.text(id), expected.labels[id]);
    ASSERT_EQ(graph.row_offsets[r + 1] + base, expected.row_offsets[id + 1]);
  }
  for (std::uint64_t e = 0; e < graph.col_indices.size(); ++e) {
    ASSERT_EQ(graph.col_indices[e], expected.col_indices[base + e]);
    if (graph.weighted) {
      ASSERT_EQ(graph.weights[e], expected.weights[base + e]);
    }
  }
}

TEST(MpiGraph, IsTheNaiveGraph) {
  for (LabelKind kind : {LabelKind::range, LabelKind::integer, LabelKind::string})
    for (bool weighted : {false, true}) {
      const test::Case c = some_case(kind, weighted);
      expect_block_of(test::naive_graph(c),
                      build_graph(test::parsed_share(c, *world), test::options_of(c), *world));
    }
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  tessera::MpiSession session(argc, argv);
  const auto comm = session.world();
  const auto comm_in_pieces = session.world(1000);
  tessera::world = comm.get();
  tessera::world_in_pieces = comm_in_pieces.get();
  const auto late_comm = session.world();
  tessera::late_world = late_comm.get();
  const auto late_gatherer_comm = session.world();
  tessera::late_gatherer = late_gatherer_comm.get();
  testing::InitGoogleTest(&argc, argv);
  if (!comm->is_root())
    delete testing::UnitTest::GetInstance()->listeners().Release(
        testing::UnitTest::GetInstance()->listeners().default_result_printer());
  const std::uint64_t failed = RUN_ALL_TESTS() == 0 ? 0 : 1;
  if (failed) std::cerr << "rank " << comm->rank() << " failed\n";
  const bool anybody_failed = tessera::all_sum(*comm, failed) > 0;
  session.finish();
  return anybody_failed ? 1 : 0;
}
