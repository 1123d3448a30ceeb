// From a file to a Graph: text and cache by content, times, errors on all ranks.
#include "engine/load_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/io/binary_cache.hpp"
#include "tests/support/input_files.hpp"

namespace tessera::test {
namespace {

using Rows = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Targets with their sources, by label, on one rank.
Rows rows_of(const Graph& graph) {
  Rows rows;
  for (std::uint64_t row = 0; row < graph.num_local_rows; ++row) {
    rows.emplace_back(graph.labels.text(static_cast<VertexId>(row)), std::vector<std::string>{});
    for (EdgeOffset e = graph.row_offsets[row]; e < graph.row_offsets[row + 1]; ++e)
      rows.back().second.push_back(graph.labels.text(graph.col_indices[e]));
  }
  return rows;
}

const Rows kRows = {{"10", {"20"}}, {"20", {"7", "10"}}, {"7", {}}};

GraphOptions options_for(const std::string& path) {
  GraphOptions options;
  options.path = path;
  return options;
}

TEST(LoadGraph, ReadsTextIntoRowsOfInEdges) {
  const InputText file("7 20\n10 20\n20 10\n10 20\n");
  const auto comm = make_single_rank();
  LoadTimes times{-1, -1};
  const Graph graph = load_graph(options_for(file.path()), *comm, {}, &times);
  EXPECT_EQ(graph.num_vertices, 3u);
  EXPECT_EQ(graph.num_edges, 3u);
  EXPECT_EQ(graph.facts.edges_read, 4u);
  EXPECT_EQ(graph.facts.duplicate_edges, 1u);
  EXPECT_THAT(rows_of(graph), testing::UnorderedElementsAreArray(kRows));
  EXPECT_GE(times.read_seconds, 0);
  EXPECT_GE(times.build_seconds, 0);
}

TEST(LoadGraph, FindsTheCacheByItsContent) {
  const InputText file("7 20\n10 20\n20 10\n");
  const InputText cache("", "cache.txt");
  const auto comm = make_single_rank();
  write_binary_cache(load_graph(options_for(file.path()), *comm), cache.path(), *comm);
  const Graph graph = load_graph(options_for(cache.path()), *comm);
  EXPECT_THAT(rows_of(graph), testing::UnorderedElementsAreArray(kRows));
  EXPECT_EQ(graph.facts.format, "tessera cache");
}

TEST(LoadGraph, ABadLineInOneSliceIsTheSameErrorOnAllRanks) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += std::to_string(i) + " 1\n";
  const InputText file(text + "only\n" + text, "g.el");
  int failed = 0;
  run_ranks(4, [&](Communicator& comm) {
    std::string message;
    try {
      load_graph(options_for(file.path()), comm);
    } catch (const InputError& error) {
      message = error.what();
    }
    EXPECT_THAT(message, testing::HasSubstr("g.el:51: expected two labels, found \"only\""));
    std::uint64_t count = message.empty() ? 0 : 1;
    count = all_sum(comm, count);
    if (comm.is_root()) failed = static_cast<int>(count);
  });
  EXPECT_EQ(failed, 4);
}

}  // namespace
}  // namespace tessera::test
