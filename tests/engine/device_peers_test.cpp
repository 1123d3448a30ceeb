// GPUs that write to each other's memory, a rank each.
#include <gtest/gtest.h>

#include "engine/spmv_operator.hpp"
#include "kernels/base/error.hpp"
#include "kernels/devices.hpp"
#include "tests/support/linked_backend.hpp"
#include "tests/support/linked_gpus.hpp"
#include "tests/support/skewed_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

class DevicePeers : public testing::Test {
 protected:
  void SetUp() override {
    if (num_devices() < 2) GTEST_SKIP() << num_devices() << " GPUs here, fewer than 2";
  }
  void TearDown() override { LinkedGpus<float>::clear(); }
};

template <class T>
Buffer<T> downloaded(Backend<float>& backend, const Buffer<T>& there) {
  Buffer<T> here(there.size());
  backend.download(there.data(), here.data(), there.size_bytes());
  return here;
}

/// The product of `op` with a block of made-up vectors, the last one of it. inputs: whose rows its inputs
/// are.
std::vector<double> product(SpmvOperator<float>& op, const SpmvOperator<float>& inputs,
                            unsigned num_vectors) {
  const auto number = [&](VertexId input, std::size_t vector) {
    return 0.5f + 1.0f / static_cast<float>(1 + input + 7 * vector);
  };
  std::vector<float> numbers;
  for (const VertexId input : inputs.local_rows())
    for (unsigned q = 0; q < num_vectors; ++q) numbers.push_back(number(input, q));
  Backend<float>& backend = op.backend();
  Buffer<float> local = backend.allocate<float>(numbers.size()), x = op.make_x(num_vectors);
  backend.upload(numbers.data(), local.data(), local.size_bytes());
  Buffer<double> y = op.make_y(num_vectors);
  op.replicate(local, nullptr, x, num_vectors);
  op.apply(x, y, num_vectors);
  op.wait_for_inputs();
  const RowPlaces there = op.row_places();
  const Buffer<VertexId> positions =
      there.positions == nullptr ? Buffer<VertexId>() : downloaded(backend, *there.positions);
  const RowPlaces places{there.positions == nullptr ? nullptr : &positions, there.num_products};
  const std::uint64_t num_rows = op.local_rows().size();
  const Buffer<double> rows = in_row_order(downloaded(backend, y), places, num_rows, num_vectors);
  const std::vector<float> rounded(rows.begin(), rows.end());
  Buffer<float> result = backend.allocate<float>(rounded.size());
  backend.upload(rounded.data(), result.data(), result.size_bytes());
  return op.to_original(result, num_vectors, num_vectors - 1);
}

/// Of a graph and its reverse in turn.
std::vector<std::vector<double>> products_of_ranks(const Graph& graph, KernelKind kernel, int num_ranks,
                                                   std::span<const unsigned> numbers) {
  std::vector<std::vector<double>> all;
  run_ranks(num_ranks, [&](Communicator& comm) {
    Backend<float>& backend = LinkedGpus<float>::of(comm);
    auto pair =
        SpmvOperator<float>::in_and_out_edges(block_of(graph, comm), {.kernel = kernel}, backend, comm);
    std::vector<std::vector<double>> mine;
    for (const unsigned num_vectors : numbers) {
      mine.push_back(product(pair.first, pair.second, num_vectors));
      mine.push_back(product(pair.second, pair.first, num_vectors));
    }
    EXPECT_STREQ(pair.first.exchange_kind(), num_ranks > 1 ? "peers" : "none");
    if (comm.is_root()) all = mine;
  });
  return all;
}

TEST_F(DevicePeers, InputsOfAnyNumberOfVectorsArriveAfterThoseOfAnother) {
  const Graph graph = skewed_graph(3000, 60000);
  const unsigned many[] = {1, 8, 3, 25, 1, 25, 2}, one[] = {1, 1, 1};
  const auto expect_same = [&](KernelKind kernel, std::span<const unsigned> numbers) {
    const auto on_one = products_of_ranks(graph, kernel, 1, numbers);
    for (const int ranks : {2, num_devices()}) {
      const auto found = products_of_ranks(graph, kernel, ranks, numbers);
      ASSERT_EQ(found.size(), 2 * numbers.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(found[i] == on_one[i])  // without all of their numbers
            << to_string(kernel) << ", " << ranks << " ranks, product " << i << " of " << numbers[i / 2];
    }
  };
  expect_same(KernelKind::csr, many);
  expect_same(KernelKind::tile_messages, one);
}

/// All that a device has left, but for pieces of less than 2 MiB.
std::vector<Buffer<float>> all_room_of(Backend<float>& backend) {
  std::vector<Buffer<float>> taken;
  for (std::uint64_t bytes = backend.free_bytes(); bytes >= std::uint64_t{2} << 20;) {
    try {
      taken.push_back(backend.allocate<float>(bytes / sizeof(float)));
    } catch (const NoRoomError&) {
      bytes /= 2;
    }
  }
  return taken;
}

TEST_F(DevicePeers, OneWithoutRoomIsAnErrorOfAllAndTheNextTryWorks) {
  const Graph graph = skewed_graph(300000, 900000);
  run_ranks(2, [&](Communicator& comm) {
    Backend<float>& backend = LinkedGpus<float>::of(comm);
    for (const unsigned num_vectors : {7u, 64u}) {  // x by itself, and x that others write
      auto op =
          SpmvOperator<float>::in_edges(block_of(graph, comm), {.kernel = KernelKind::csr}, backend, comm);
      const Buffer<float> local = op.local_constant(1, op.num_local_rows() * num_vectors);
      Buffer<float> x = op.make_x(num_vectors);
      std::vector<Buffer<float>> taken;
      if (comm.rank() == 1) taken = all_room_of(backend);
      EXPECT_THROW(op.replicate(local, nullptr, x, num_vectors), NoRoomError)
          << comm.rank() << ' ' << num_vectors;
      taken.clear();
      comm.barrier();
      EXPECT_EQ(product(op, op, num_vectors).size(), 300000u);
    }
  });
}

}  // namespace
}  // namespace tessera::test
