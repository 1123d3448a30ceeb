#include "algorithms/hits_uniqueness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "algorithms/hits.hpp"
#include "tests/support/link_devices.hpp"
#include "tests/support/linked_backend.hpp"
#include "tests/support/sample_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

/// Hubs on a line; neighbours share an authority unless a gap lies between. Marks start from the largest.
class HubsOnALine {
 public:
  HubsOnALine(std::vector<double> hubs, std::size_t gap_after)
      : hubs_(std::move(hubs)), marks_(hubs_.size(), 0.0), gap_after_(gap_after) {
    marks_[static_cast<std::size_t>(std::max_element(hubs_.begin(), hubs_.end()) - hubs_.begin())] = 1;
  }
  bool has_unique_pair(double last_change, double rate, int max_steps = 50) {
    return tessera::has_unique_pair(last_change, rate, max_steps, [this] { return spread(); });
  }
  int num_steps() const { return num_steps_; }

 private:
  SpreadStep spread() {
    ++num_steps_;
    std::vector<double> reached = marks_;
    for (std::size_t i = 0; i + 1 < marks_.size(); ++i) {
      if (i == gap_after_) continue;
      reached[i] = std::max(reached[i], marks_[i + 1]);
      reached[i + 1] = std::max(reached[i + 1], marks_[i]);
    }
    SpreadStep step{.grew = reached != marks_};
    marks_ = reached;
    for (std::size_t i = 0; i < hubs_.size(); ++i) {
      step.mass += hubs_[i];
      if (marks_[i] == 0) step.outside += hubs_[i];
    }
    return step;
  }

  std::vector<double> hubs_, marks_;
  std::size_t gap_after_;
  int num_steps_ = 0;
};

TEST(HasUniquePair, MassOutsideTheLargestHubsComponentIsATie) {
  EXPECT_FALSE(HubsOnALine({0.3, 0.2, 0.3, 0.2}, 1).has_unique_pair(1e-9, 0.5));
  EXPECT_TRUE(HubsOnALine({0.3, 0.2, 0.3, 0.2}, 99).has_unique_pair(1e-9, 0.5));
}

TEST(HasUniquePair, WhatASlowerComponentLeavesBehindIsNoTie) {
  EXPECT_TRUE(HubsOnALine({0.5, 0.5, 5e-7, 0}, 1).has_unique_pair(0, 0.5));
  EXPECT_FALSE(HubsOnALine({0.5, 0.5, 5e-4, 0}, 1).has_unique_pair(1e-6, 0.5));
  EXPECT_TRUE(HubsOnALine({0.5, 0.5, 5e-4, 0}, 1).has_unique_pair(1e-5, 0.5));
}

TEST(HasUniquePair, AComponentThatShrinksAsSlowlyAsTheChangesIsNoTie) {
  const std::vector<double> hubs{0.5, 0.485, 0.0075, 0.0075};
  EXPECT_FALSE(HubsOnALine(hubs, 1).has_unique_pair(1e-6, 0.99));
  EXPECT_TRUE(HubsOnALine(hubs, 1).has_unique_pair(1e-6, 0.99995));
  EXPECT_FALSE(HubsOnALine(hubs, 1).has_unique_pair(1e-6, 1));
}

TEST(HasUniquePair, ALargeChangeSaysNothing) {
  EXPECT_FALSE(HubsOnALine({0.3, 0.2, 0.3, 0.2}, 1).has_unique_pair(1, 0));
}

TEST(HasUniquePair, IsAboutSharesOfTheMass) {
  EXPECT_TRUE(HubsOnALine({50, 50, 5e-5, 0}, 1).has_unique_pair(0, 0.5));
  EXPECT_FALSE(HubsOnALine({50, 50, 5e-3, 0}, 1).has_unique_pair(0, 0.5));
}

TEST(HasUniquePair, StopsWhenNothingIsLeftOutside) {
  HubsOnALine near({0.5, 0.5, 0, 0}, 99);
  EXPECT_TRUE(near.has_unique_pair(0, 0.5));
  EXPECT_EQ(near.num_steps(), 1);
  HubsOnALine none({0, 0}, 99);
  EXPECT_TRUE(none.has_unique_pair(0, 0.5));
  EXPECT_EQ(none.num_steps(), 1);
}

TEST(HasUniquePair, IsTakenForGrantedOfALongComponent) {
  const std::vector<double> hubs(100, 0.01);
  HubsOnALine cut_short(hubs, 98);
  EXPECT_TRUE(cut_short.has_unique_pair(1e-9, 0.5, 20));
  EXPECT_EQ(cut_short.num_steps(), 20);
  EXPECT_FALSE(HubsOnALine(hubs, 98).has_unique_pair(1e-9, 0.5, 200));
}

/// `count` paths of `length` vertices, each second one a hub that links to its neighbours.
Graph paths(VertexId count, VertexId length) {
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (VertexId path = 0; path < count; ++path)
    for (VertexId v = 0; v < length; v += 2) {
      const VertexId hub = path * length + v;
      if (v > 0) edges.emplace_back(hub, hub - 1);
      if (v + 1 < length) edges.emplace_back(hub, hub + 1);
    }
  return sample_graph(edges, range_labels(count * length, 0));
}

/// Products leave their rows in an order of their own, and inputs go from device to device.
bool is_unique_on_devices(const Graph& whole, HitsUpdate update, int num_ranks) {
  HitsOptions options;
  options.stop.fixed_iterations = 6;
  bool is_unique = false;
  run_ranks(num_ranks, [&](Communicator& comm) {
    LinkedBackend<float> backend(comm, kSmallTiles);
    link_devices<float>(backend, comm);
    const OperatorOptions how{.kernel = KernelKind::tile_messages};
    const Graph block = block_of(whole, comm);
    HitsResult result;
    if (update == HitsUpdate::block) {
      auto op = SpmvOperator<float>::hits_block(block, how, backend, comm);
      result = hits_block(op, options);
    } else {
      auto [to_authority, to_hub] = SpmvOperator<float>::in_and_out_edges(block, how, backend, comm);
      result = hits(to_authority, to_hub, options);
    }
    if (comm.is_root()) is_unique = result.unique;
  });
  return is_unique;
}

TEST(HasUniquePair, IsFoundStepByStepOnDevices) {
  const Graph one = paths(1, 82), two = paths(2, 41);
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block})
    for (const int num_ranks : {1, 3}) {
      EXPECT_TRUE(is_unique_on_devices(one, update, num_ranks)) << num_ranks;
      EXPECT_FALSE(is_unique_on_devices(two, update, num_ranks)) << num_ranks;
    }
}

TEST(ConvergenceRate, IsTheFactorOfAStep) {
  std::vector<double> history;
  for (int k = 0; k < 30; ++k) history.push_back(std::pow(0.7, k));
  EXPECT_NEAR(convergence_rate(history, 1), 0.7, 1e-12);
  EXPECT_NEAR(convergence_rate(history, 2), 0.49, 1e-12);
  // Of two sequences that take turns.
  EXPECT_NEAR(convergence_rate(std::vector<double>{1, 100, 0.5, 50}, 2), 0.5, 1e-12);
  EXPECT_EQ(convergence_rate(std::vector<double>{1, 100}, 2), 0);
  EXPECT_EQ(convergence_rate(std::vector<double>{1.0}, 1), 0);
  EXPECT_EQ(convergence_rate(std::vector<double>{1.0, 0.0}, 1), 0);
}

}  // namespace
}  // namespace tessera::test
