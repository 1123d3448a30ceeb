// What ranks do with the rows of a file that all have mapped, against what they do without.
#include "engine/mapped_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/graph_builder.hpp"
#include "engine/io/binary_cache.hpp"
#include "engine/io/mapped_file.hpp"
#include "tests/support/sample_graph.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

GraphOptions reading(const std::string& path) {
  GraphOptions options;
  options.path = path;
  return options;
}

void expect_rows_of(const Graph& whole, const Graph& block) {
  ASSERT_NE(block.mapped_rows, nullptr);
  const CsrView<double> mapped = block.mapped_edges();
  ASSERT_EQ(mapped.num_rows, whole.num_vertices);
  ASSERT_EQ(mapped.num_nonzeros(), whole.col_indices.size());
  EXPECT_TRUE(std::ranges::equal(block.mapped_rows->row_offsets, whole.row_offsets));
  EXPECT_TRUE(std::ranges::equal(block.mapped_rows->col_indices, whole.col_indices));
  ASSERT_EQ(mapped.values != nullptr, whole.weighted);
  for (std::size_t e = 0; whole.weighted && e < whole.weights.size(); ++e)
    ASSERT_EQ(mapped.values[e], whole.weights[e]);
}

TEST(MappedRows, AreThoseOfACacheThatSeveralRanksRead) {
  for (const bool weighted : {false, true}) {
    const TemporaryFolder folder;
    const std::string path = folder.file("g.tsr");
    const Graph graph = random_graph(range_labels(300, 0), 2000, weighted, 4);
    write_binary_cache(graph, path, *make_single_rank());
    EXPECT_EQ(read_binary_cache(reading(path), *make_single_rank()).mapped_rows, nullptr);
    run_ranks(3, [&](Communicator& comm) {
      const Graph block = read_binary_cache(reading(path), comm);
      EXPECT_EQ(block.directions, Directions::as_they_lie);
      expect_rows_of(graph, block);
      GraphOptions unweighted = reading(path);
      unweighted.unweighted = true;
      EXPECT_EQ(read_binary_cache(unweighted, comm).mapped_edges().values, nullptr);
    });
  }
}

/// Of a copy each rank has checked its own rows alone.
TEST(MappedRows, AreNotThoseOfCopies) {
  const TemporaryFolder folder;
  write_binary_cache(random_graph(range_labels(30, 0), 200, false, 4), folder.file("a.tsr"),
                     *make_single_rank());
  std::filesystem::copy_file(folder.file("a.tsr"), folder.file("b.tsr"));
  run_ranks(2, [&](Communicator& comm) {
    const Graph block = read_binary_cache(reading(folder.file(comm.is_root() ? "a.tsr" : "b.tsr")), comm);
    EXPECT_EQ(block.mapped_rows, nullptr);
  });
}

TEST(MappedRows, AreGivenUpWhereEdgesAreLeftOut) {
  const TemporaryFolder folder;
  GraphOptions options = reading(folder.file("g.tsr"));
  options.self_loops = SelfLoops::drop;
  for (const bool has_loop : {false, true}) {
    const VertexId source = has_loop ? 3 : 4;
    write_binary_cache(sample_graph({{0, 1}, {source, 3}, {2, 0}}, range_labels(5, 0)), options.path,
                       *make_single_rank());
    run_ranks(3, [&](Communicator& comm) {
      EXPECT_EQ(read_binary_cache(options, comm).mapped_rows == nullptr, has_loop);
    });
  }
}

TEST(MappedRows, AreTurnedRoundAndSymmetrisedAsThoseThatAreSent) {
  for (const bool weighted : {false, true})
    for (const std::uint64_t n : {2, 90}) {
      const Graph whole = random_graph(range_labels(n, 0), n * 9, weighted, 7);
      run_ranks(4, [&](Communicator& comm) {
        const Graph sent = block_of(whole, comm), mapped = mapped_block_of(whole, comm);
        const Graph turned = transposed(mapped, comm);
        EXPECT_EQ(describe(turned), describe(transposed(sent, comm)));
        EXPECT_EQ(turned.directions, Directions::turned);
        const Graph again = transposed(turned, comm);
        EXPECT_EQ(describe(again), describe(sent));
        EXPECT_EQ(again.directions, Directions::as_they_lie);
        for (const Duplicates duplicates : {Duplicates::merge, Duplicates::keep, Duplicates::drop}) {
          const Graph both = symmetrised(mapped, duplicates, comm);
          EXPECT_EQ(describe(both), describe(symmetrised(sent, duplicates, comm)));
          // What a device makes of the rows is this graph, or nothing.
          EXPECT_EQ(both.mapped_rows != nullptr, !weighted && duplicates != Duplicates::keep);
          EXPECT_EQ(both.directions, Directions::both);
          EXPECT_EQ(transposed(both, comm).directions, Directions::both);
        }
      });
    }
}

TEST(MappedFile, HasAnIdentityOfItsOwn) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) std::ofstream(folder.file(name)) << "the same bytes";
  const MappedFile a(folder.file("a")), again(folder.file("a")), b(folder.file("b"));
  EXPECT_NE(a.identity(), 0u);
  EXPECT_EQ(a.identity(), again.identity());
  EXPECT_NE(a.identity(), b.identity());
}

}  // namespace
}  // namespace tessera::test
