#include "engine/io/graph_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "engine/load_graph.hpp"
#include "kernels/base/error.hpp"
#include "tests/engine/file_size_limit.hpp"
#include "tests/support/sample_graph.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera {
namespace {

using namespace test;  // NOLINT: the helpers of tests/support
using testing::HasSubstr;

using Writer = void (*)(const Graph&, const std::string&, Communicator&);

std::string written(Writer write, const Graph& graph, const std::string& name, int num_ranks = 1) {
  const TemporaryFolder folder;
  run_ranks(num_ranks, [&](Communicator& comm) { write(block_of(graph, comm), folder.file(name), comm); });
  return file_bytes(folder.file(name));
}

std::string error_of(Writer write, const Graph& graph, const std::string& name) {
  try {
    written(write, graph, name, 3);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// Writes, reads with the reader of text files, and compares.
void expect_round_trip(Writer write, const Graph& graph, const std::string& name) {
  const TemporaryFolder folder;
  const auto comm = make_single_rank();
  write(graph, folder.file(name), *comm);
  GraphOptions options;
  options.path = folder.file(name);
  options.weighted = graph.weighted;

  EXPECT_EQ(describe(load_graph(options, *comm)), describe(graph)) << file_bytes(folder.file(name));
}

TEST(EdgeListWriter, WritesByTargetThenSource) {
  const Graph graph = sample_graph({{0, 1}, {2, 1}, {1, 0}}, integer_labels({3, 5, 900}), true);

  EXPECT_EQ(written(write_edge_list, graph, "g.tsv"), "5\t3\t0.5\n3\t5\t1.5\n900\t5\t2.5\n");
  EXPECT_EQ(written(write_edge_list, graph, "g.csv"), "5,3,0.5\n3,5,1.5\n900,5,2.5\n");
}

TEST(EdgeListWriter, QuotesLabelsInCsv) {
  const Graph graph = sample_graph({{0, 1}, {1, 0}}, string_labels({"a,b", "say \"x\""}));

  EXPECT_EQ(written(write_edge_list, graph, "g.csv"),
            "\"say \"\"x\"\"\",\"a,b\"\n\"a,b\",\"say \"\"x\"\"\"\n");
}

TEST(EdgeListWriter, NamesALabelThatTabsCannotCarry) {
  for (const char* label : {"a b", "a\tb", "#a", "%a", "//a", "", "a\"b"}) {
    std::vector<std::string> labels{label, "zz"};
    const Graph graph = sample_graph({{0, 1}, {1, 0}}, string_labels(labels));
    EXPECT_THAT(error_of(write_edge_list, graph, "g.tsv"), HasSubstr("would not read back")) << label;
  }
}

TEST(EdgeListWriter, RefusesAFirstLineThatReadsAsSomethingElse) {
  // Written by target: the first line is source -> target, or foo -> bar before nothing but integers.
  const Graph names = sample_graph({{1, 0}, {0, 1}}, string_labels({"target", "source"}));
  const Graph words = sample_graph({{1, 0}, {3, 2}}, string_labels({"foo", "bar", "1", "2"}));
  const Graph commas = sample_graph({{1, 0}, {0, 1}}, string_labels({"a,b", "c,d"}));
  for (const char* name : {"g.tsv", "g.csv"}) {
    EXPECT_THAT(error_of(write_edge_list, names, name), HasSubstr("would not read back as an edge")) << name;
    EXPECT_THAT(error_of(write_edge_list, words, name), HasSubstr("bar")) << name;
  }
  EXPECT_EQ(error_of(write_edge_list, commas, "g.csv"), "no error");
  // However long it is.
  const Graph long_words =
      sample_graph({{1, 0}, {3, 2}}, string_labels({std::string(100000, 'f'), "bar", "1", "2"}));
  const Graph long_names = sample_graph({{1, 0}, {0, 1}}, string_labels({std::string(100000, 'f'), "bar"}));
  for (const char* name : {"g.tsv", "g.csv"}) {
    EXPECT_THAT(error_of(write_edge_list, long_words, name), HasSubstr("would not read back")) << name;
    EXPECT_EQ(error_of(write_edge_list, long_names, name), "no error");
  }
  for (const char* name : {"g.tsv", "g.csv"})
    expect_round_trip(write_edge_list, sample_graph({{0, 1}, {3, 2}}, string_labels({"-3", "-5", "1", "2"})),
                      name);
}

TEST(EdgeListWriter, RefusesVerticesWithoutEdges) {
  const Graph graph = sample_graph({{0, 1}}, range_labels(4, 1));

  EXPECT_THAT(error_of(write_edge_list, graph, "g.tsv"), HasSubstr("2 vertices have no edges"));
}

TEST(EdgeListWriter, ReadsBack) {
  expect_round_trip(write_edge_list,
                    random_graph(integer_labels({0, 4, 5, 17, 400, 401, 1u << 31}), 20, false, 1), "g.tsv");
  expect_round_trip(write_edge_list,
                    random_graph(integer_labels({0, 4, 5, 17, 400, 401, 1u << 31}), 20, true, 2), "g.csv");
  expect_round_trip(write_edge_list,
                    random_graph(string_labels({"a", "b", "caf\xC3\xA9", "d+e"}), 9, true, 3), "g.tsv");
  expect_round_trip(write_edge_list,
                    random_graph(string_labels({"a b", "b,c", "c \"d\" e", "d"}), 9, true, 4), "g.csv");
}

TEST(MatrixMarketWriter, WritesSizesAndOneBasedEntries) {
  const Graph graph = sample_graph({{0, 1}, {2, 1}, {1, 0}}, range_labels(4, 1), true);

  EXPECT_EQ(written(write_matrix_market, graph, "g.mtx"),
            "%%MatrixMarket matrix coordinate real general\n4 4 3\n2 1 0.5\n1 2 1.5\n3 2 2.5\n");
  EXPECT_THAT(written(write_matrix_market, sample_graph({}, range_labels(0, 1)), "g.mtx"),
              HasSubstr("pattern general\n0 0 0\n"));
}

TEST(MatrixMarketWriter, ListsLabelsThatAreNotPositions) {
  const TemporaryFolder folder;
  const auto write = [&](LabelTable labels) {
    write_matrix_market(sample_graph({{0, 1}}, std::move(labels)), folder.file("g.mtx"), *make_single_rank());
  };

  write(integer_labels({1, 2}));
  EXPECT_EQ(folder.num_files(), 1u);
  write(string_labels({"x", "y"}));
  EXPECT_EQ(file_bytes(folder.file("g.mtx.labels.txt")), "x\ny\n");
  write(range_labels(2, 0));
  EXPECT_EQ(file_bytes(folder.file("g.mtx.labels.txt")), "0\n1\n");
}

TEST(MatrixMarketWriter, RemovesTheListOfAnOlderMatrix) {
  const TemporaryFolder folder;
  const auto write = [&](const LabelTable& labels) {
    const Graph graph = sample_graph({{0, 1}}, block_of(labels, *make_single_rank()));
    run_ranks(2, [&](Communicator& comm) {
      write_matrix_market(block_of(graph, comm), folder.file("g.mtx"), comm);
    });
  };

  write(string_labels({"x", "y"}));
  EXPECT_EQ(folder.num_files(), 2u);
  write(integer_labels({1, 2}));
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(MatrixMarketWriter, AFailedWriteLeavesTheOldMatrixWithItsLabels) {
  const TemporaryFolder folder;
  const auto write = [&](const Graph& graph) {
    run_ranks(3, [&](Communicator& comm) {
      write_matrix_market(block_of(graph, comm), folder.file("g.mtx"), comm);
    });
  };
  write(sample_graph({{0, 1}}, string_labels({"x", "y"})));
  const std::string matrix = file_bytes(folder.file("g.mtx"));
  for (const std::uint64_t first_label : {0, 1}) {  // with and without a list of its own
    const FileSizeLimit limit(1 << 16);
    EXPECT_THROW(write(random_graph(range_labels(3000, first_label), 20000, false, 3)), ResourceError);
  }

  EXPECT_EQ(file_bytes(folder.file("g.mtx")), matrix);
  EXPECT_EQ(file_bytes(folder.file("g.mtx.labels.txt")), "x\ny\n");
  EXPECT_EQ(folder.num_files(), 2u);
}

TEST(MatrixMarketWriter, ReadsBack) {
  expect_round_trip(write_matrix_market, random_graph(range_labels(9, 1), 30, false, 5), "g.mtx");
  expect_round_trip(write_matrix_market, random_graph(range_labels(9, 1), 30, true, 6), "g.mtx");
}

TEST(GraphWriter, IsTheSameFileForAnyNumberOfRanks) {
  std::vector<std::string> names;
  for (int i = 1000; i < 4000; ++i) names.push_back("node" + std::to_string(i));
  const Graph graph = random_graph(string_labels(names), 300000, true, 7);
  for (const Writer write : {Writer(write_edge_list), Writer(write_matrix_market)}) {
    const std::string expected = written(write, graph, "g.csv");
    for (const int num_ranks : {2, 3, 7}) EXPECT_TRUE(written(write, graph, "g.csv", num_ranks) == expected);
  }
}

}  // namespace
}  // namespace tessera
