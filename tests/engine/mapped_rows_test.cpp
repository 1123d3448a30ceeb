// What ranks do with the rows of a file that all have mapped, against what they do without.
#include "engine/mapped_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "engine/graph_builder.hpp"
#include "engine/io/binary_cache.hpp"
#include "engine/io/mapped_file.hpp"
#include "tests/support/sample_graph.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"
#include "tests/support/without_sending.hpp"

namespace tessera::test {
namespace {

GraphOptions reading(const std::string& path) {
  GraphOptions options;
  options.path = path;
  return options;
}

void expect_rows_of(const Graph& whole, const Graph& block) {
  ASSERT_TRUE(block.mapped.has_value());
  EXPECT_EQ(block.mapped->directions, Directions::same);
  const CsrView<double> mapped = block.mapped_csr();
  ASSERT_EQ(mapped.num_rows, whole.num_vertices);
  ASSERT_EQ(mapped.num_nonzeros(), whole.col_indices.size());
  EXPECT_TRUE(std::ranges::equal(block.mapped->rows->row_offsets, whole.row_offsets));
  EXPECT_TRUE(std::ranges::equal(block.mapped->rows->col_indices, whole.col_indices));
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
    EXPECT_FALSE(read_binary_cache(reading(path), *make_single_rank()).mapped.has_value());
    run_ranks(3, [&](Communicator& comm) {
      expect_rows_of(graph, read_binary_cache(reading(path), comm));
      GraphOptions unweighted = reading(path);
      unweighted.unweighted = true;
      const Graph pattern = read_binary_cache(unweighted, comm);
      EXPECT_EQ(pattern.mapped->rows->weights.empty(), !weighted);
      EXPECT_EQ(pattern.mapped_csr().values, nullptr);
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
    EXPECT_FALSE(block.mapped.has_value());
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
      EXPECT_NE(read_binary_cache(options, comm).mapped.has_value(), has_loop);
    });
  }
}

/// A rank turns round what others have without being sent it.
TEST(MappedRows, AreTurnedRoundAndSymmetrisedAsThoseThatAreSent) {
  for (const bool weighted : {false, true})
    for (const std::uint64_t n : {2, 90}) {
      const Graph whole = random_graph(range_labels(n, 0), n * 9, weighted, 7);
      run_ranks(4, [&](Communicator& comm) {
        WithoutSending silent(comm);
        const Graph sent = block_of(whole, comm), mapped = mapped_block_of(whole, comm);
        const Graph turned = transposed(mapped, silent);
        EXPECT_EQ(describe(turned), describe(transposed(sent, comm)));
        EXPECT_EQ(turned.mapped->directions, Directions::turned);
        const Graph again = transposed(turned, comm);
        EXPECT_EQ(describe(again), describe(sent));
        EXPECT_EQ(again.mapped->directions, Directions::same);
        for (const Duplicates duplicates : {Duplicates::merge, Duplicates::keep, Duplicates::drop}) {
          const Graph both = symmetrised(mapped, duplicates, silent);
          EXPECT_EQ(describe(both), describe(symmetrised(sent, duplicates, comm)));
          // What a device makes of the rows is this graph, or nothing.
          ASSERT_EQ(both.mapped.has_value(), !weighted && duplicates != Duplicates::keep);
          if (!both.mapped) continue;
          EXPECT_EQ(both.mapped->directions, Directions::both);
          EXPECT_EQ(transposed(both, comm).mapped->directions, Directions::both);
        }
      });
    }
}

TEST(MappedRows, AreTurnedRoundAndSymmetrisedByTheOptionsOfACache) {
  const TemporaryFolder folder;
  GraphOptions options = reading(folder.file("g.tsr"));
  write_binary_cache(random_graph(range_labels(60, 0), 500, false, 3), options.path, *make_single_rank());
  options.reverse = true;
  for (const bool undirected : {false, true}) {
    options.undirected = undirected;
    std::atomic<int> num_asked = 0;
    options.may_use_device = [&](std::uint64_t) {
      ++num_asked;
      return true;  // where no GPU answers, all ranks go on without
    };
    const Graph expected = read_binary_cache(options, *make_single_rank());
    EXPECT_EQ(num_asked.exchange(0), undirected ? 1 : 0);
    run_ranks(3, [&](Communicator& comm) {
      const Graph block = read_binary_cache(options, comm);
      EXPECT_EQ(describe(block), describe(block_of(expected, comm)));
      EXPECT_EQ(block.mapped->directions, undirected ? Directions::both : Directions::turned);
    });
    EXPECT_EQ(num_asked, undirected ? 3 : 0);
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
