#include "tools/memory_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "kernels/base/error.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::cli {
namespace {

using testing::HasSubstr;

Graph graph_of(std::uint64_t vertices, std::uint64_t edges) {
  Graph graph;
  graph.num_vertices = vertices;
  graph.num_edges = edges;
  return graph;
}

SpmvPlan spmv_plan(KernelKind kernel) {
  SpmvPlan plan;
  plan.kernel = kernel;
  plan.predicted_messages = 2e6;
  plan.tile_columns = 50'000;
  return plan;
}
/// 92 bytes a tile and bin, which has 2^14 messages.
std::uint64_t cell_bytes(std::uint64_t tiles, std::uint64_t messages) {
  return 92 * tiles * ((messages + (1 << 14) - 1) >> 14);
}

DeviceMemoryPlan plan_of(const MemoryShape& shape, KernelKind kernel = KernelKind::tile_messages,
                         std::uint64_t num_ranks = 1) {
  return plan_device_memory(graph_of(1'000'000, 16'000'000), spmv_plan(kernel), shape, Precision::f32,
                            num_ranks);
}

TEST(DeviceMemoryPlan, HoldsTheFormItsMessagesAndVectors) {
  const DeviceMemoryPlan plan = plan_of({});
  EXPECT_GE(plan.matrix_bytes, 2 * 16'000'000 + 4 * 2'000'000u);  // an offset an element, a float a message
  EXPECT_LE(plan.matrix_bytes, 4 * 16'000'000u);
  EXPECT_GE(plan.vector_bytes, 1'000'000 * (sizeof(double) + sizeof(float)));
  EXPECT_GE(plan.exchange_bytes, 1'000'000 * sizeof(float));
  EXPECT_EQ(plan.packing_bytes, 0u);
  EXPECT_EQ(plan.bytes(), plan.matrix_bytes + plan.vector_bytes + plan.exchange_bytes);
}

TEST(DeviceMemoryPlan, PackingTakesTwoMoreOfOneMatrix) {
  const DeviceMemoryPlan one = plan_of({.packs_on_device = true});
  const std::uint64_t cells = cell_bytes(20, 2'000'000);
  EXPECT_EQ(one.packing_bytes, 2 * one.matrix_bytes + cells);
  EXPECT_EQ(one.bytes(),
            3 * one.matrix_bytes + cells + one.exchange_bytes);  // vectors come later, and take less
  const MemoryShape many{.num_vectors = 25, .packs_on_device = true};
  EXPECT_EQ(plan_of(many).bytes(), plan_of({.num_vectors = 25}).bytes());
  const DeviceMemoryPlan two = plan_of({.num_matrices = 2, .packs_on_device = true});
  EXPECT_EQ(two.packing_bytes, one.packing_bytes);
  EXPECT_EQ(two.matrix_bytes, 2 * one.matrix_bytes);
  // CSR: the rows as they lie on the host. Other kernels are packed there whatever is asked for.
  EXPECT_EQ(plan_of({.packs_on_device = true}, KernelKind::csr).packing_bytes,
            4 * 16'000'000u + 24 * 1'000'000u);
  EXPECT_EQ(plan_of({.packs_on_device = true}, KernelKind::tile_composite).packing_bytes, 0u);
}

TEST(DeviceMemoryPlan, SortingManyMessagesTakesMoreThanTwoMatrices) {
  SpmvPlan plan = spmv_plan(KernelKind::tile_messages);
  plan.predicted_messages = 8e6;  // one for two elements
  const DeviceMemoryPlan memory =
      plan_device_memory(graph_of(1'000'000, 16'000'000), plan, {.packs_on_device = true}, Precision::f32, 1);
  EXPECT_GT(memory.packing_bytes, 2 * memory.matrix_bytes);
  EXPECT_EQ(memory.packing_bytes + memory.matrix_bytes,
            2 * 16'000'000u + 36 * 8'000'000u + cell_bytes(20, 8'000'000));
}

/// They are counted whether they have messages or not.
TEST(DeviceMemoryPlan, CellsTakeMoreThanTheMatrixWhereTilesAndBinsAreMany) {
  SpmvPlan plan = spmv_plan(KernelKind::tile_messages);
  const auto packing_of = [&](std::uint32_t tile_columns) {
    plan.tile_columns = tile_columns;
    return plan_device_memory(graph_of(1'000'000, 16'000'000), plan, {.packs_on_device = true},
                              Precision::f32, 1)
        .packing_bytes;
  };
  EXPECT_EQ(packing_of(100) - packing_of(1'000'000),
            cell_bytes(10'000, 2'000'000) - cell_bytes(1, 2'000'000));
}

TEST(DeviceMemoryPlan, ABatchLiesInMemoryWhereItsVectorsGoTogether) {
  const DeviceMemoryPlan one = plan_of({}, KernelKind::csr), block = plan_of({.batch = 25}, KernelKind::csr);
  // padded to 32
  EXPECT_EQ(block.exchange_bytes - one.exchange_bytes, 31 * sizeof(float) * 1'000'000u);
  // and one more that goes to the host
  EXPECT_EQ(block.vector_bytes - one.vector_bytes,
            (31 * (sizeof(double) + 2 * sizeof(float)) + sizeof(float)) * 1'000'000u);
  // Twice 8 bytes a row, an eighth and a sixteenth of one an element for runs of rows; three sums of up to 16
  // vectors for rows of 513 elements, two of all for rows of 1,025.
  EXPECT_NEAR(static_cast<double>(block.matrix_bytes - one.matrix_bytes),
              2 * 8e6 + 2e6 + 1e6 + 16 * 8 * 3 * 16e6 / 513 + 32 * 8 * 2 * 16e6 / 1025, 1);
  EXPECT_EQ(plan_of({.batch = 25}).bytes(), plan_of({}).bytes());
  // only CSR is padded
  EXPECT_EQ(plan_of({.batch = 25}, KernelKind::tile_composite).exchange_bytes -
                plan_of({}, KernelKind::tile_composite).exchange_bytes,
            24 * sizeof(float) * 1'000'000u);
  const auto comm = make_single_rank();
  const auto on_host = [&](unsigned batch, const SpmvPlan* on_device) {
    return plan_memory(graph_of(1'000'000, 16'000'000), {.batch = batch}, Precision::f32, *comm, on_device)
        .vector_bytes;
  };
  const SpmvPlan messages = spmv_plan(KernelKind::tile_messages), csr = spmv_plan(KernelKind::csr);
  EXPECT_EQ(on_host(25, &messages), on_host(1, nullptr));
  constexpr std::uint64_t kVectorBytes = (sizeof(double) + 4 * sizeof(float)) * 1'000'000;
  EXPECT_EQ(on_host(25, &csr) - on_host(1, &csr), 31 * kVectorBytes);  // 25 are padded to 32
  EXPECT_EQ(on_host(3, nullptr) - on_host(1, nullptr), 2 * kVectorBytes);
  EXPECT_EQ(on_host(25, nullptr), on_host(8, nullptr));  // no more go together on a CPU
  // What has arrived lies beside x and what is sent, of single numbers twice beside x.
  constexpr std::uint64_t kLists = 2 * sizeof(VertexId) * 1'000'000;
  EXPECT_EQ(plan_of({.batch = 25}, KernelKind::csr, 4).exchange_bytes,
            32 * sizeof(float) * (2 * 1'000'000u + 250'000u) + kLists);
  EXPECT_EQ(plan_of({}, KernelKind::csr, 4).exchange_bytes, 3 * sizeof(float) * 1'000'000u + kLists);
  EXPECT_EQ(plan_of({.num_matrices = 2}, KernelKind::csr, 4).exchange_bytes,
            2 * plan_of({}, KernelKind::csr, 4).exchange_bytes);
}

TEST(DeviceMemoryPlan, AcceleratedStepsKeepWhereTheyBegan) {
  MemoryShape shape{.batch = 32};
  const std::uint64_t plain = plan_of(shape, KernelKind::csr).vector_bytes;
  shape.accelerates = true;
  EXPECT_EQ(plan_of(shape, KernelKind::csr).vector_bytes, plain + 1'000'000 * 32 * sizeof(float));
}

TEST(DeviceMemoryPlan, MoreGpusHoldLessEach) {
  for (const bool packs : {false, true}) {
    const MemoryShape shape{.packs_on_device = packs};
    const DeviceMemoryPlan one = plan_of(shape), four = plan_of(shape, KernelKind::tile_messages, 4);
    EXPECT_NEAR(static_cast<double>(four.matrix_bytes), static_cast<double>(one.matrix_bytes) / 4, 1);
    EXPECT_LT(four.bytes(), one.bytes());
    EXPECT_GE(four.exchange_bytes, one.exchange_bytes);
  }
}

TEST(DeviceMemoryPlan, EachMatrixHasTwoInputsWhereThereAreSeveralGpus) {
  const auto exchange = [](const MemoryShape& shape, std::uint64_t ranks) {
    return plan_of(shape, KernelKind::tile_messages, ranks).exchange_bytes;
  };
  EXPECT_EQ(exchange({}, 1), 1'000'000 * sizeof(float));
  constexpr std::uint64_t kListed = 1'000'000 * (sizeof(float) + sizeof(VertexId));  // with where it goes
  EXPECT_EQ(exchange({}, 4), 2 * kListed);
  EXPECT_EQ(exchange({.num_matrices = 2}, 4), 4 * kListed);
}

/// Edges of 4 bytes, 8 million of each of two ranks. Elsewhere they are sent and received, or copied.
TEST(MemoryPlan, TilesOfMappedRowsAreCutWhereTheseLie) {
  test::run_ranks(2, [](Communicator& comm) {
    const auto packing = [&](std::optional<Directions> mapped, const MemoryShape& shape, KernelKind kernel) {
      Graph graph = graph_of(1'000'000, 16'000'000);
      if (mapped) graph.mapped = {std::make_shared<const MappedRows>(), *mapped};
      const SpmvPlan plan = spmv_plan(kernel);
      return plan_memory(graph, shape, Precision::f32, comm, &plan).packing_bytes;
    };
    constexpr std::uint64_t kOwn = 4 * 8'000'000;
    const std::uint64_t sent = packing({}, {}, KernelKind::tile_messages);
    EXPECT_EQ(packing(Directions::same, {}, KernelKind::tile_messages), sent - 2 * kOwn);
    EXPECT_EQ(packing(Directions::turned, {}, KernelKind::tile_messages), sent);
    EXPECT_EQ(packing(Directions::both, {}, KernelKind::tile_messages), sent);
    EXPECT_EQ(packing(Directions::same, {}, KernelKind::csr), sent);
    const MemoryShape two{.num_matrices = 2};
    EXPECT_EQ(packing(Directions::same, two, KernelKind::tile_messages),
              packing({}, two, KernelKind::tile_messages));
  });
}

TEST(MemoryRemedy, NamesWhatMakesThisPlanSmaller) {
  EXPECT_EQ(memory_remedy({}, Precision::f64), "more machines, --precision f32 or a smaller graph");
  EXPECT_EQ(memory_remedy({.num_matrices = 2, .num_vectors = 2, .num_results = 2}, Precision::f32),
            "more machines or a smaller graph");
  const MemoryShape queries{.batch = 25, .num_results = 100};
  EXPECT_EQ(memory_remedy(queries, Precision::f32),
            "more machines, a smaller --batch, fewer queries or a smaller graph");
  const SpmvPlan messages = spmv_plan(KernelKind::tile_messages);  // walk one by one
  EXPECT_EQ(memory_remedy(queries, Precision::f32, &messages),
            "more machines, fewer queries or a smaller graph");
}

/// What is said of too little memory; empty: it is enough.
std::string complaint(const MemoryShape& shape, std::uint64_t free_bytes,
                      KernelKind kernel = KernelKind::tile_messages, Precision precision = Precision::f32) {
  const auto comm = make_single_rank();
  try {
    check_device_memory(graph_of(1'000'000, 16'000'000), spmv_plan(kernel), shape, precision, free_bytes,
                        *comm);
  } catch (const ResourceError& error) {
    return error.what();
  }
  return "";
}

TEST(PaysToPackOnDevice, WhereEdgesAreManyAndEveryGpuHasRoom) {
  const std::uint64_t enough = 2 * plan_of({.packs_on_device = true}).bytes();
  const auto pays = [&](std::uint64_t num_edges, KernelKind kernel, std::uint64_t free_bytes,
                        Communicator& comm) {
    return pays_to_pack_on_device(graph_of(1'000'000, num_edges), spmv_plan(kernel), {}, Precision::f32,
                                  free_bytes, comm);
  };
  const auto alone = make_single_rank();
  EXPECT_TRUE(pays(16'000'000, KernelKind::tile_messages, enough, *alone));
  EXPECT_FALSE(pays(16'000'000, KernelKind::tile_messages, enough - 1, *alone));
  EXPECT_FALSE(pays(16'000'000, KernelKind::tile_composite, enough, *alone));
  const std::uint64_t enough_for_csr = 2 * plan_of({.packs_on_device = true}, KernelKind::csr).bytes();
  EXPECT_TRUE(pays(16'000'000, KernelKind::csr, enough_for_csr, *alone));
  EXPECT_FALSE(pays(16'000'000, KernelKind::csr, enough_for_csr - 1, *alone));
  EXPECT_TRUE(pays(kEdgesWorthDevicePacking, KernelKind::tile_messages, enough, *alone));
  EXPECT_FALSE(pays(kEdgesWorthDevicePacking - 1, KernelKind::tile_messages, enough, *alone));
  test::run_ranks(3, [&](Communicator& comm) {
    EXPECT_TRUE(pays(16'000'000, KernelKind::tile_messages, enough, comm));
    EXPECT_FALSE(pays(16'000'000, KernelKind::tile_messages, comm.rank() == 1 ? 1000 : enough, comm));
  });
}

TEST(CheckDeviceMemory, SaysWhatIsNeededAndHowManyGpusWouldDo) {
  const std::uint64_t needed = plan_of({}).bytes();
  EXPECT_EQ(complaint({}, needed), "");
  const std::string text = complaint({}, needed - 1);
  EXPECT_THAT(text, HasSubstr(std::to_string(needed) + " bytes on each GPU, but " +
                              std::to_string(needed - 1) + " are free"));
  EXPECT_THAT(text, HasSubstr("2 such GPUs would do, or use --backend cpu"));
  EXPECT_THAT(text, testing::Not(HasSubstr("--pack host")));
  EXPECT_THAT(complaint({}, 1000), HasSubstr("free; use --backend cpu"));
  EXPECT_THAT(complaint({}, 1000, KernelKind::tile_messages, Precision::f64),
              HasSubstr("use --precision f32 or --backend cpu"));
  EXPECT_THAT(complaint({.batch = 9}, 1000), testing::Not(HasSubstr("--batch")));
  EXPECT_THAT(complaint({.batch = 9}, 1000, KernelKind::csr),
              HasSubstr("use a smaller --batch or --backend cpu"));
  EXPECT_THAT(complaint({.packs_on_device = true}, needed), HasSubstr("use --pack host or --backend cpu"));
}

}  // namespace
}  // namespace tessera::cli
