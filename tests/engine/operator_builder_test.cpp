// What an operator is built of, by what it is for.
#include <gtest/gtest.h>

#include "engine/spmv_operator.hpp"
#include "tests/support/linked_backend.hpp"
#include "tests/support/skewed_graph.hpp"

namespace tessera::test {
namespace {

/// A backend whose tiles are predicted to be faster, but steps of this graph, and of its block matrix, may
/// run in CSR.
class OperatorBuilding : public testing::Test {
 protected:
  OperatorBuilding() {
    options_.table.gpu.tiles = {1e-6};
    options_.table.gpu.bins = {1e-6};
    options_.table.gpu.csr = {3e-6};
  }
  TilingLimits limits() const {
    TilingLimits limits = kSmallTiles;
    limits.run_nonzeros = 2 * graph_.num_edges;
    limits.run_rows = 2 * graph_.num_vertices;
    limits.run_longest_row = 2 * graph_.num_edges;
    return limits;
  }
  const Graph graph_ = skewed_graph(900, 9000);
  const std::unique_ptr<Communicator> comm_ = make_single_rank();
  LinkedBackend<float> backend_{*comm_, limits()};
  OperatorOptions options_;
};

TEST_F(OperatorBuilding, TakesCsrForStepsThatMayRun) {
  const auto kernels = [&] {
    const auto pair = SpmvOperator<float>::in_and_out_edges(graph_, options_, backend_, *comm_);
    return std::pair(SpmvOperator<float>::in_edges(graph_, options_, backend_, *comm_).plan().kernel,
                     pair.second.plan().kernel);
  };
  EXPECT_EQ(kernels(), std::pair(KernelKind::csr, KernelKind::csr));
  options_.for_runs = false;
  EXPECT_EQ(kernels(), std::pair(KernelKind::tile_messages, KernelKind::tile_messages));
}

TEST_F(OperatorBuilding, TakesTilesForTheBlockFormOfHits) {
  EXPECT_EQ(SpmvOperator<float>::hits_block(graph_, options_, backend_, *comm_).plan().kernel,
            KernelKind::tile_messages);
}

}  // namespace
}  // namespace tessera::test
