// Operators whose matrices the device packs, on made-up devices that do it in the host's memory: the products
// of matrices that the host packs.
#include <gtest/gtest.h>

#include <atomic>

#include "engine/device_ranks.hpp"
#include "engine/spmv_operator.hpp"
#include "kernels/base/error.hpp"
#include "tests/support/host_builds.hpp"
#include "tests/support/linked_backend.hpp"
#include "tests/support/skewed_graph.hpp"
#include "tests/support/thread_ranks.hpp"

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
    if (has_no_room || (input.is_turned && has_no_room_to_turn)) throw NoRoomError("no room");
    if (fails) throw ResourceError("a kernel failed");
    TileMessages<S> matrix = build_messages_in_host_memory<S>(input);
    stats = matrix.stats;
    if (input.is_turned) ++num_turned;
    return make_matrix(std::move(matrix), std::move(exchange));
  }
  std::unique_ptr<Matrix<S>> pack_csr(const CsrBuildInput& input, PackingStats& stats) override {
    ++num_packed;
    if (has_no_room) throw NoRoomError("no room");
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

template <class S>
Found product(const Graph& whole, OperatorOptions options, int num_ranks, bool link,
              int rank_without_room = -1) {
  Found found;
  std::atomic<int> num_packed = 0;
  run_ranks(num_ranks, [&](Communicator& comm) {
    PackingBackend<S> backend(comm, kSmallTiles);
    backend.has_no_room = comm.rank() == rank_without_room;
    if (link) link_devices<S>(backend, comm);
    auto op = SpmvOperator<S>::in_edges(block_of(whole, comm), options, backend, comm);
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

TEST(OperatorPacking, OnTheDeviceGivesTheProductsOfTheHosts) {
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
                         bool has_room_to_turn = true) {
  PairFound found;
  std::atomic<int> num_turned = 0;
  run_ranks(num_ranks, [&](Communicator& comm) {
    PackingBackend<float> backend(comm, kSmallTiles);
    backend.has_no_room_to_turn = !has_room_to_turn;
    auto [first, second] =
        SpmvOperator<float>::in_and_out_edges(block_of(whole, comm), options, backend, comm);
    const std::vector<double> all = product_of_made_up(second, first);
    num_turned += backend.num_turned;
    if (comm.is_root()) found = {all, second.stats()};
  });
  found.num_turned = num_turned;
  return found;
}

TEST(OperatorPacking, TurnsEdgesRoundWhereTheDeviceHasRoom) {
  const Graph whole = skewed_graph(900, 9000);
  OperatorOptions options{.kernel = KernelKind::tile_messages};
  const PairFound on_host = second_product(whole, options, 1);
  EXPECT_EQ(on_host.num_turned, 0);
  options.pack_on_device = true;
  for (const bool may_pack_on_host : {false, true}) {
    options.may_pack_on_host = may_pack_on_host;
    const PairFound by_device = second_product(whole, options, 1),
                    by_host = second_product(whole, options, 1, false),
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

TEST(OperatorPacking, GoesToTheHostWhereTheDeviceHasNoRoomAndThatMayBe) {
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

TEST(OperatorPacking, SaysWhatElseFailsOnTheDevice) {
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
