// Products of ranks whose devices are linked, against one rank; no GPU is needed (tests/support).
#include <gtest/gtest.h>

#include "engine/device_ranks.hpp"
#include "engine/spmv_operator.hpp"
#include "tests/support/link_devices.hpp"
#include "tests/support/linked_backend.hpp"
#include "tests/support/skewed_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

struct Found {
  std::string kind;
  double exchanges = 0;
  std::vector<double> y;
};

/// A (A x) for blocks of k vectors, the last one of it.
template <class S>
Found product(const Graph& whole, const OperatorOptions& options, int num_ranks, unsigned k, bool link) {
  Found found;
  run_ranks(num_ranks, [&](Communicator& comm) {
    LinkedBackend<S> backend(comm, kSmallTiles);
    if (link) link_devices<S>(backend, comm);
    auto op = SpmvOperator<S>::in_edges(block_of(whole, comm), options, backend, comm);
    const auto rows = op.local_rows();
    Buffer<S> local = backend.template allocate<S>(rows.size() * k), x = op.make_x(k);
    for (std::size_t i = 0; i < local.size(); ++i)
      local[i] = static_cast<S>(0.5 + 1.0 / (1.0 + static_cast<double>(rows[i / k]) + double(i % k)));
    Buffer<double> y = op.make_y(k);
    for (int step = 0; step < 2; ++step) {
      op.replicate(local, nullptr, x, k);
      op.apply(x, y, k);
      const Buffer<double> sums = in_row_order(y, op.row_places(), rows.size(), k);
      for (std::size_t i = 0; i < local.size(); ++i) local[i] = static_cast<S>(sums[i]);
    }
    const auto all = op.to_original(local, k, k - 1);
    const std::string kind = op.exchange_kind();
    if (comm.is_root()) found = {kind, op.exchange_seconds(), all};
  });
  return found;
}

TEST(LinkedDevices, ProductsHaveTheBitsOfOneRank) {
  for (const auto& [n, num_edges] : {std::pair(900u, 9000u), std::pair(3u, 5u), std::pair(40u, 20u)}) {
    const Graph whole = skewed_graph(n, num_edges);
    for (const OperatorOptions& options :
         {OperatorOptions{.kernel = KernelKind::tile_messages, .order = OrderRequest::by_length},
          OperatorOptions{.kernel = KernelKind::tile_messages, .order = OrderRequest::as_given},
          OperatorOptions{.kernel = KernelKind::tile_composite}, OperatorOptions{.kernel = KernelKind::csr}})
      for (const unsigned k : {1u, 3u}) {
        const Found one = product<float>(whole, options, 1, k, false);
        EXPECT_EQ(one.kind, "none");
        for (const int ranks : {2, 3, 4, 5, 6, 7}) {
          const Found linked = product<float>(whole, options, ranks, k, true);
          EXPECT_EQ(linked.kind, "device");
          EXPECT_EQ(linked.exchanges, 2);
          EXPECT_EQ(linked.y, one.y) << to_string(options.kernel) << ", " << ranks << " ranks";
        }
        const Found through_host = product<float>(whole, options, 3, k, false);
        EXPECT_EQ(through_host.kind, "host");
        EXPECT_EQ(through_host.y, one.y);
      }
  }
}

TEST(LinkedDevices, TheOrderOfNodesChangesRoundingsOnly) {
  const Graph whole = skewed_graph(900, 9000);
  const auto with = [&](KernelKind kernel, OrderRequest order, int ranks) {
    return product<double>(whole, {.kernel = kernel, .order = order}, ranks, 1, false).y;
  };
  const auto expected = with(KernelKind::csr, OrderRequest::automatic, 1);
  for (const OrderRequest order : {OrderRequest::by_length, OrderRequest::as_given})
    for (const int ranks : {1, 4}) {
      const auto found = with(KernelKind::tile_messages, order, ranks);
      for (std::size_t row = 0; row < expected.size(); ++row)
        EXPECT_NEAR(found[row], expected[row], 1e-13 * expected[row]);
    }
}

TEST(LinkedDevices, EveryRankJoinsWithTheIdOfRankZero) {
  run_ranks(3, [](Communicator& comm) {
    LinkedBackend<double> backend(comm, kSmallTiles);
    EXPECT_TRUE(link_devices<double>(backend, comm));
    EXPECT_EQ(backend.joined(), "id of rank 0, " + std::to_string(comm.rank()) + " of 3");
  });
}

TEST(LinkedDevices, LinkingIsAwaitedAfterOtherWork) {
  run_ranks(3, [](Communicator& comm) {
    LinkedBackend<float> backend(comm, kSmallTiles);
    EXPECT_TRUE(start_linking<float>(backend, comm));
    EXPECT_TRUE(backend.is_linked());  // so that exchanges can be made
    EXPECT_FALSE(backend.has_awaited());
    EXPECT_TRUE(link_devices<float>(backend, comm));
    EXPECT_TRUE(backend.has_awaited());
  });
}

TEST(LinkedDevices, ABackendWithoutLinksSaysSo) {
  run_ranks(2, [](Communicator& comm) {
    const auto backend = make_backend<double>("cpu");
    EXPECT_FALSE(link_devices(*backend, comm));
  });
}

}  // namespace
}  // namespace tessera::test
