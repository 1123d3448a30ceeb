// Operators whose matrices the device packs, on made-up devices that do it in the host's memory: the products
// of matrices that the host packs.
#include <gtest/gtest.h>

#include <atomic>

#include "engine/graph_builder.hpp"
#include "engine/spmv_operator.hpp"
#include "kernels/base/error.hpp"
#include "tests/support/host_builds.hpp"
#include "tests/support/link_devices.hpp"
#include "tests/support/linked_backend.hpp"
#include "tests/support/sample_graph.hpp"
#include "tests/support/skewed_graph.hpp"
#include "tests/support/thread_ranks.hpp"
#include "tests/support/without_sending.hpp"

namespace tessera::test {
namespace {

template <class S>
class PackingBackend : public LinkedBackend<S> {
 public:
  using LinkedBackend<S>::LinkedBackend;
  using LinkedBackend<S>::make_matrix;
  std::unique_ptr<Matrix<S>> pack_messages(const MessagesBuildInput& input,
                                           std::shared_ptr<Exchange<S>> exchange,
                                           PackingStats& stats) override {
    ++num_packed;
    const bool as_they_lie = input.directions == Directions::same;
    if (has_no_room || (!as_they_lie && has_no_room_to_turn)) throw NoRoomError("no room");
    if (fails) throw ResourceError("a kernel failed");
    TileMessages<S> matrix = build_messages_in_host_memory<S>(input);
    stats = matrix.stats;
    if (!as_they_lie) ++num_turned;
    return make_matrix(std::move(matrix), std::move(exchange));
  }
  std::unique_ptr<Matrix<S>> pack_csr(const CsrBuildInput& input, PackingStats& stats) override {
    ++num_packed;
    const bool as_they_lie = input.directions == Directions::same;
    if (has_no_room || (!as_they_lie && has_no_room_to_turn)) throw NoRoomError("no room");
    if (!as_they_lie) ++num_turned;
    CsrMatrix<S> matrix = build_csr_in_host_memory<S>(input, 0);
    stats = matrix.stats;
    return make_matrix(std::move(matrix));
  }
  int num_packed = 0, num_turned = 0;
  bool has_no_room = false, has_no_room_to_turn = false, fails = false;
};

/// With a made-up vector of the rows that `rows_of_inputs` has, in original order.
template <class S>
std::vector<double> product_of_made_up(SpmvOperator<S>& op, const SpmvOperator<S>& rows_of_inputs) {
  std::vector<double> x(rows_of_inputs.num_rows());
  for (std::size_t v = 0; v < x.size(); ++v) x[v] = 1.0 / static_cast<double>(1 + v % 13);
  Buffer<S> inputs = op.make_x();
  op.replicate(rows_of_inputs.to_local(x), nullptr, inputs);
  Buffer<double> y = op.make_y();
  op.apply(inputs, y);
  const Buffer<double> sums = in_row_order(y, op.row_places(), op.local_rows().size(), 1);
  Buffer<S> stored(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) stored[i] = static_cast<S>(sums[i]);
  return op.to_original(stored);
}

struct Found {
  std::vector<double> y;
  OperatorStats stats;
  int num_packed = 0;
};

using BlockOf = Graph (*)(const Graph&, Communicator&);

Graph without_weights(Graph graph) {
  graph.weighted = false;
  graph.weights = {};
  return graph;
}
Graph turned_mapped_block_of(const Graph& whole, Communicator& comm) {
  return transposed(mapped_block_of(whole, comm), comm);
}
Graph both_of_mapped_block(const Graph& whole, Communicator& comm) {
  return symmetrised(mapped_block_of(whole, comm), Duplicates::merge, comm);
}

/// With mapped rows and room no edges are sent.
template <class S>
Found product(const Graph& whole, OperatorOptions options, int num_ranks, bool link,
              int rank_without_room = -1, BlockOf block = block_of) {
  Found found;
  std::atomic<int> num_packed = 0;
  run_ranks(num_ranks, [&](Communicator& sending) {
    WithoutSending silent(sending);
    const bool is_silent = block != BlockOf{block_of} && rank_without_room < 0;
    Communicator& comm = is_silent ? static_cast<Communicator&>(silent) : sending;
    PackingBackend<S> backend(comm, kSmallTiles);
    backend.has_no_room = comm.rank() == rank_without_room;
    if (link) link_devices<S>(backend, comm);
    auto op = SpmvOperator<S>::in_edges(block(whole, comm), options, backend, comm);
    const std::vector<double> all = product_of_made_up(op, op);
    num_packed += backend.num_packed;
    if (comm.is_root()) found = {all, op.stats()};
  });
  found.num_packed = num_packed;
  return found;
}

template <class S>
void expect_same_products(const Graph& whole, OrderRequest order, KernelKind kernel) {
  OperatorOptions options{.kernel = kernel, .order = order};
  const Found on_host = product<S>(whole, options, 1, false);
  EXPECT_EQ(on_host.num_packed, 0);
  EXPECT_FALSE(on_host.stats.packed_on_device);
  options.pack_on_device = true;
  for (const int ranks : {1, 3, 4})
    for (const bool link : {false, true}) {
      if (ranks == 1 && link) continue;
      const Found on_device = product<S>(whole, options, ranks, link);
      EXPECT_EQ(on_device.num_packed, ranks);
      EXPECT_TRUE(on_device.stats.packed_on_device);
      EXPECT_EQ(on_device.y, on_host.y) << ranks << " ranks";
      EXPECT_EQ(on_device.stats.num_nonzeros, on_host.stats.num_nonzeros);
      if (ranks == 1) EXPECT_EQ(on_device.stats.matrix_bytes, on_host.stats.matrix_bytes);
    }
}

TEST(MatrixPacker, OnTheDeviceGivesTheProductsOfTheHosts) {
  for (const KernelKind kernel : {KernelKind::tile_messages, KernelKind::csr})
    for (const OrderRequest order : {OrderRequest::by_length, OrderRequest::as_given}) {
      expect_same_products<float>(skewed_graph(900, 9000), order, kernel);
      expect_same_products<double>(skewed_graph(400, 1500), order, kernel);
      expect_same_products<float>(skewed_graph(3, 5), order, kernel);
    }
}

struct PairFound {
  std::vector<double> hubs;
  OperatorStats stats;
  int num_turned = 0;
};

/// The second of a pair, of the edges turned round.
PairFound second_product(const Graph& whole, const OperatorOptions& options, int num_ranks,
                         int rank_without_room_to_turn = -1, BlockOf block = block_of) {
  PairFound found;
  std::atomic<int> num_turned = 0;
  run_ranks(num_ranks, [&](Communicator& comm) {
    PackingBackend<float> backend(comm, kSmallTiles);
    backend.has_no_room_to_turn = comm.rank() == rank_without_room_to_turn;
    auto [first, second] = SpmvOperator<float>::in_and_out_edges(block(whole, comm), options, backend, comm);
    const std::vector<double> all = product_of_made_up(second, first);
    num_turned += backend.num_turned;
    if (comm.is_root()) found = {all, second.stats()};
  });
  found.num_turned = num_turned;
  return found;
}

TEST(MatrixPacker, TurnsEdgesRoundWhereTheDeviceHasRoom) {
  const Graph whole = skewed_graph(900, 9000);
  OperatorOptions options{.kernel = KernelKind::tile_messages};
  const PairFound on_host = second_product(whole, options, 1);
  EXPECT_EQ(on_host.num_turned, 0);
  options.pack_on_device = true;
  for (const bool may_pack_on_host : {false, true}) {
    options.may_pack_on_host = may_pack_on_host;
    const PairFound by_device = second_product(whole, options, 1),
                    by_host = second_product(whole, options, 1, 0),
                    on_ranks = second_product(whole, options, 3);
    EXPECT_EQ(by_device.num_turned, 1);
    EXPECT_EQ(by_host.num_turned, 0);
    EXPECT_EQ(on_ranks.num_turned, 0);
    for (const PairFound* found : {&by_device, &by_host, &on_ranks}) {
      EXPECT_EQ(found->hubs, on_host.hubs);
      EXPECT_TRUE(found->stats.packed_on_device);
      EXPECT_EQ(found->stats.num_nonzeros, on_host.stats.num_nonzeros);
    }
    EXPECT_EQ(by_device.stats.matrix_bytes, on_host.stats.matrix_bytes);
    EXPECT_EQ(by_device.stats.num_row_pieces, on_host.stats.num_row_pieces);
  }
}

/// Whoever packs, no edges are sent, and the products are those of one rank.
TEST(MatrixPacker, TakesRowsOfAMappedFile) {
  const Graph weighted = skewed_graph(900, 9000), plain = without_weights(skewed_graph(400, 4000)),
              tiny = skewed_graph(2, 3);
  for (const Graph* whole : {&plain, &weighted, &tiny})
    for (const KernelKind kernel : {KernelKind::tile_messages, KernelKind::csr, KernelKind::tile_composite}) {
      OperatorOptions options{.kernel = kernel};
      const Found one = product<float>(*whole, options, 1, false);
      EXPECT_EQ(product<float>(*whole, options, 3, false, -1, mapped_block_of).y, one.y);
      if (kernel == KernelKind::tile_composite) continue;
      options.pack_on_device = true;
      const Found by_devices = product<float>(*whole, options, 3, true, -1, mapped_block_of);
      EXPECT_EQ(by_devices.y, one.y);
      EXPECT_EQ(by_devices.num_packed, 3);
      options.may_pack_on_host = true;
      const Found by_two = product<float>(*whole, options, 3, false, 1, mapped_block_of);
      EXPECT_EQ(by_two.y, one.y);
      EXPECT_FALSE(by_two.stats.packed_on_device);
    }
}

TEST(MatrixPacker, TakesRowsOfAMappedFileTurnedRoundOrInBothDirections) {
  const auto comm = make_single_rank();
  const Graph weighted = skewed_graph(900, 9000), plain = without_weights(skewed_graph(400, 4000));
  struct Case {
    const Graph& whole;
    Graph made;
    BlockOf block;
  };
  const Case cases[] = {{weighted, transposed(weighted, *comm), turned_mapped_block_of},
                        {plain, transposed(plain, *comm), turned_mapped_block_of},
                        {plain, symmetrised(plain, Duplicates::merge, *comm), both_of_mapped_block}};
  for (const Case& c : cases)
    for (const KernelKind kernel : {KernelKind::tile_messages, KernelKind::csr}) {
      const OperatorOptions options{.kernel = kernel, .pack_on_device = true, .may_pack_on_host = true};
      const Found one = product<double>(c.made, options, 1, false);
      const Found by_devices = product<double>(c.whole, options, 3, false, -1, c.block);
      EXPECT_EQ(by_devices.y, one.y);
      EXPECT_EQ(by_devices.num_packed, 3);
      EXPECT_TRUE(by_devices.stats.packed_on_device);
      EXPECT_EQ(by_devices.stats.num_nonzeros, one.stats.num_nonzeros);
      const Found by_host = product<double>(c.whole, options, 3, false, 1, c.block);
      EXPECT_EQ(by_host.y, one.y);
      EXPECT_FALSE(by_host.stats.packed_on_device);
    }
}

TEST(MatrixPacker, TurnsEdgesOfAMappedFileRoundOnAllRanksOrNone) {
  const Graph weighted = skewed_graph(900, 9000), plain = without_weights(skewed_graph(400, 4000));
  for (const Graph* whole : {&plain, &weighted})
    for (const KernelKind kernel : {KernelKind::tile_messages, KernelKind::csr}) {
      const OperatorOptions options{.kernel = kernel, .pack_on_device = true};
      const PairFound one = second_product(*whole, options, 1),
                      by_devices = second_product(*whole, options, 3, -1, mapped_block_of),
                      by_host = second_product(*whole, options, 3, 1, mapped_block_of);
      EXPECT_EQ(by_devices.num_turned, 3);
      EXPECT_EQ(by_host.num_turned, 2);  // whose results are let go
      for (const PairFound* found : {&by_devices, &by_host}) {
        EXPECT_EQ(found->hubs, one.hubs);
        EXPECT_TRUE(found->stats.packed_on_device);
        EXPECT_EQ(found->stats.num_nonzeros, one.stats.num_nonzeros);
      }
    }
}

/// Both products of a symmetric graph are of both directions; turned round twice, edges are as they lie.
TEST(MatrixPacker, MakesPairsOfMappedFilesThatAreMadeOfOthers) {
  const auto comm = make_single_rank();
  const Graph whole = without_weights(skewed_graph(900, 9000)),
              both = symmetrised(whole, Duplicates::merge, *comm), turned = transposed(whole, *comm);
  for (const KernelKind kernel : {KernelKind::tile_messages, KernelKind::csr}) {
    const OperatorOptions options{.kernel = kernel, .pack_on_device = true};
    const PairFound of_both = second_product(both, options, 1),
                    by_devices = second_product(whole, options, 3, -1, both_of_mapped_block),
                    by_host = second_product(whole, options, 3, 2, both_of_mapped_block);
    EXPECT_EQ(by_devices.num_turned, 6);
    EXPECT_EQ(by_host.num_turned, 4);
    EXPECT_EQ(by_devices.hubs, of_both.hubs);
    EXPECT_EQ(by_host.hubs, of_both.hubs);
    const PairFound of_turned = second_product(turned, options, 1),
                    as_it_lies = second_product(whole, options, 3, -1, turned_mapped_block_of);
    EXPECT_EQ(as_it_lies.num_turned, 3);  // the first of each pair
    EXPECT_EQ(as_it_lies.hubs, of_turned.hubs);
  }
}

TEST(MatrixPacker, SendsRowsOfMappedFilesWhereTheyAreScaledOrInBlocks) {
  Graph whole = skewed_graph(300, 3000);
  for (double& weight : whole.weights) weight *= 0x1p-80;
  const OperatorOptions options{.kernel = KernelKind::csr};
  EXPECT_EQ(second_product(whole, options, 3, -1, mapped_block_of).hubs,
            second_product(whole, options, 1).hubs);
  const auto block_product = [&](int num_ranks) {
    std::vector<double> y;
    run_ranks(num_ranks, [&](Communicator& comm) {
      PackingBackend<double> backend(comm, kSmallTiles);
      auto op = SpmvOperator<double>::hits_block(mapped_block_of(whole, comm), options, backend, comm);
      const std::vector<double> all = product_of_made_up(op, op);
      if (comm.is_root()) y = all;
    });
    return y;
  };
  EXPECT_EQ(block_product(3), block_product(1));
}

TEST(MatrixPacker, GoesToTheHostWhereTheDeviceHasNoRoomAndThatMayBe) {
  const Graph whole = skewed_graph(900, 9000);
  for (const KernelKind kernel : {KernelKind::tile_messages, KernelKind::csr}) {
    OperatorOptions options{.kernel = kernel};
    const Found on_host = product<float>(whole, options, 1, false);
    options.pack_on_device = true;
    EXPECT_THROW(product<float>(whole, options, 1, false, 0), ResourceError);
    options.may_pack_on_host = true;
    for (const int ranks : {1, 3}) {
      const Found found = product<float>(whole, options, ranks, ranks > 1, ranks / 2);
      EXPECT_EQ(found.num_packed, ranks);
      EXPECT_FALSE(found.stats.packed_on_device);
      EXPECT_EQ(found.y, on_host.y) << ranks << " ranks";
    }
  }
}

TEST(MatrixPacker, SaysWhatElseFailsOnTheDevice) {
  const auto comm = make_single_rank();
  PackingBackend<float> backend(*comm, kSmallTiles);
  backend.fails = true;
  const OperatorOptions options{
      .kernel = KernelKind::tile_messages, .pack_on_device = true, .may_pack_on_host = true};
  EXPECT_THROW(SpmvOperator<float>::in_edges(skewed_graph(900, 9000), options, backend, *comm),
               ResourceError);
}

}  // namespace
}  // namespace tessera::test
