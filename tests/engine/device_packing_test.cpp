// A matrix that the device packs against one that the host packs, as operators use them: the same product.
#include <gtest/gtest.h>

#include <numeric>

#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"
#include "engine/spmv_operator.hpp"
#include "kernels/devices.hpp"

namespace tessera {
namespace {

Graph skewed_graph(bool weighted, Communicator& comm) {
  Graph graph = build_graph(generate_edges({.scale = 14}, comm), {}, comm);
  if (!weighted) return graph;
  graph.weighted = true;
  graph.weights = Buffer<double>(graph.num_edges);
  for (std::uint64_t e = 0; e < graph.num_edges; ++e)
    graph.weights[e] = static_cast<double>(1 + e % 1000) / 1000;
  return graph;
}

template <class S>
struct Product {
  std::vector<double> sums;
  OperatorStats stats;
};
template <class S>
Product<S> multiply(const Graph& graph, KernelKind kernel, bool pack_on_device, Communicator& comm) {
  const auto backend = make_backend<S>("cuda");
  const OperatorOptions options{.kernel = kernel, .pack_on_device = pack_on_device};
  auto op = SpmvOperator<S>::in_edges(graph, options, *backend, comm);
  std::vector<double> host_x(graph.num_vertices);
  for (std::size_t v = 0; v < host_x.size(); ++v) host_x[v] = 1.0 / static_cast<double>(1 + v % 97);
  Buffer<S> x = op.make_x();
  op.replicate(op.to_local(host_x), nullptr, x);
  Buffer<double> y = op.make_y();
  op.apply(x, y);
  Product<S> product{std::vector<double>(y.size()), op.stats()};
  backend->download(y.data(), product.sums.data(), y.size_bytes());
  return product;
}

template <class S>
void expect_same_product(KernelKind kernel, bool weighted) {
  const auto comm = make_single_rank();
  const Graph graph = skewed_graph(weighted, *comm);
  const Product<S> on_host = multiply<S>(graph, kernel, false, *comm),
                   on_device = multiply<S>(graph, kernel, true, *comm);
  EXPECT_FALSE(on_host.stats.packed_on_device);
  EXPECT_TRUE(on_device.stats.packed_on_device);
  EXPECT_GT(std::accumulate(on_host.sums.begin(), on_host.sums.end(), 0.0), 0);
  EXPECT_EQ(on_device.sums, on_host.sums);
  EXPECT_EQ(on_device.stats.matrix_bytes, on_host.stats.matrix_bytes);
  EXPECT_EQ(on_device.stats.num_row_pieces, on_host.stats.num_row_pieces);
}

TEST(DevicePacking, GivesTheProductOfTheHostsMatrix) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU answers here";
  for (const KernelKind kernel : {KernelKind::tile_messages, KernelKind::csr})
    for (const bool weighted : {false, true}) {
      expect_same_product<float>(kernel, weighted);
      expect_same_product<double>(kernel, weighted);
    }
}

}  // namespace
}  // namespace tessera
