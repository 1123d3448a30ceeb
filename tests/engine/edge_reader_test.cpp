// Edge lists through the whole reader: labels, lines, weights, blocks, ranks.
#include "engine/io/edge_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "engine/io/quoted_text.hpp"
#include "tests/support/input_files.hpp"

namespace tessera::test {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<Edge> kTwoEdges = {{"1", "2", 1}, {"3", "4", 1}};

GraphOptions weighted() {
  GraphOptions options;
  options.weighted = true;
  return options;
}
GraphOptions labels(LabelChoice choice) {
  GraphOptions options;
  options.labels = choice;
  return options;
}

TEST(EdgeReader, ReadsEveryKindOfLineEndAndBlank) {
  for (const char* text :
       {"1 2\n3 4\n", "1 2\r\n3 4\r\n", "1 2\n3 4", "1\t2\n3 \t 4\n", "  1 2  \n\n3 4\t\r\n\n",
        "\xEF\xBB\xBF"
        "1 2\n3 4\n",
        "\xEF\xBB\xBF# c\n1 2\n3 4\r", "# c\n% c\n// c\n1 2\n 3 4"}) {
    const ReadResult result = read_text(text);
    EXPECT_EQ(result.error, "") << text;
    EXPECT_EQ(result.edges, kTwoEdges) << text;
    EXPECT_EQ(result.first.kind, LabelKind::integer);
  }
}

TEST(EdgeReader, FilesWithoutEdgesAreNoError) {
  for (const char* text : {"", "\n", "# only\n% comments\n//\n", "   \n\t\n", "\xEF\xBB\xBF", "#"}) {
    const ReadResult result = read_text(text);
    EXPECT_EQ(result.error, "") << text;
    EXPECT_TRUE(result.edges.empty());
  }
}

TEST(EdgeReader, AnyBlockSizeAndRankCountGivesTheSameEdgesInFileOrder) {
  const std::string text =
      "# head\n12 345\n\n6 7\r\n# a comment that is longer than a block\n89 10 extra\n5 5";
  const std::vector<Edge> expected = {{"12", "345", 1}, {"6", "7", 1}, {"89", "10", 1}, {"5", "5", 1}};
  for (int ranks = 1; ranks <= 7; ++ranks)
    for (std::size_t block = 1; block < 20; ++block) {
      const ReadResult result = read_text(text, {}, ranks, {block, 2});
      ASSERT_EQ(result.error, "");
      ASSERT_EQ(result.edges, expected) << ranks << " ranks, blocks of " << block;
      ASSERT_EQ(result.sums.lines_read, 7u);
      ASSERT_EQ(result.sums.edges_read, 4u);
      ASSERT_EQ(result.sums.extra_columns, 1u);
      ASSERT_TRUE(has_note(result, "1 line has more than 2 columns"));
    }
}

TEST(EdgeReader, ErrorsNameTheLineOfTheWholeFileOnEverySlice) {
  for (int ranks : {1, 2, 3, 7})
    for (std::size_t block : {3, 8, 64}) {
      const ReadResult result = read_text("1 2\n# c\n3 4\n\n5 6\na\n7\n", {}, ranks, {block, 2});
      ASSERT_EQ(result.error, "graph.txt:6: expected two labels, found \"a\"") << ranks << " " << block;
      ASSERT_EQ(result.category, 4);
    }
}

TEST(EdgeReader, OneLabelThatIsNoIntegerMakesAllLabelsStrings) {
  std::string text;
  std::vector<Edge> expected;
  for (int i = 0; i < 300; ++i) {
    text += std::to_string(i) + " " + std::to_string(i + 1) + "\n";
    expected.emplace_back(std::to_string(i), std::to_string(i + 1), 1);
  }
  for (const char* odd : {"x", "-5", "007", "+7", "18446744073709551616", "1.5"})
    for (int ranks : {1, 3}) {
      auto all = expected;
      all.emplace_back(odd, "1", 1);
      const ReadResult result = read_text(text + odd + " 1\n", {}, ranks, {64, 2});
      ASSERT_EQ(result.error, "");
      ASSERT_EQ(result.first.kind, LabelKind::string) << odd;
      ASSERT_EQ(result.edges, all) << odd << ", " << ranks << " ranks";
    }
}

TEST(EdgeReader, KeepsIntegersOf64Bits) {
  const ReadResult result =
      read_text("0 9223372036854775807\n18446744073709551615 1000000000000000000\n4294967295 4294967296\n");
  EXPECT_EQ(result.first.kind, LabelKind::integer);
  EXPECT_EQ(result.first.max_key, 18446744073709551615u);
  EXPECT_THAT(result.edges, ElementsAre(Edge{"0", "9223372036854775807", 1},
                                        Edge{"18446744073709551615", "1000000000000000000", 1},
                                        Edge{"4294967295", "4294967296", 1}));
}

TEST(EdgeReader, AskedForIntegersItRefusesOtherLabels) {
  for (const char* odd : {"x", "-5", "007", "18446744073709551616"}) {
    const ReadResult result = read_text(std::string("1 2\n3 ") + odd + "\n", labels(LabelChoice::integer));
    EXPECT_THAT(result.error, HasSubstr("graph.txt:2: expected an integer label")) << odd;
    EXPECT_THAT(result.error, HasSubstr(odd));
  }
}

TEST(EdgeReader, AskedForStringsItKeepsTheTextOfNumbers) {
  const ReadResult result = read_text("1 01\n1 1\n", labels(LabelChoice::string));
  EXPECT_THAT(result.edges, ElementsAre(Edge{"1", "01", 1}, Edge{"1", "1", 1}));
}

TEST(EdgeReader, ReadsWeightsAndCountsZeros) {
  const ReadResult result =
      read_text("1 2 0.5\n2 3 +1\n3 4 1e-3\n4 5 0\n5 6 7\n6 7 .25 x\n7 8 1e-400\n", weighted());
  ASSERT_EQ(result.error, "");
  EXPECT_TRUE(result.first.weighted);
  EXPECT_THAT(result.edges,
              ElementsAre(Edge{"1", "2", 0.5}, Edge{"2", "3", 1}, Edge{"3", "4", 1e-3}, Edge{"4", "5", 0},
                          Edge{"5", "6", 7}, Edge{"6", "7", 0.25}, Edge{"7", "8", 0}));
  EXPECT_EQ(result.sums.zero_weights, 2u);
  EXPECT_EQ(result.sums.extra_columns, 1u);
}

TEST(EdgeReader, RefusesWeightsThatAreNoPlainNumbers) {
  for (const char* bad :
       {"nan", "inf", "-inf", "-1", "0x10", "1,5", "1e400", "abc", "1.5.2", "--1", "+-1", "1e"}) {
    const ReadResult result = read_text(std::string("1 2 1\n1 3 ") + bad + "\n", weighted());
    EXPECT_THAT(result.error, HasSubstr("graph.txt:2: expected a finite weight")) << bad;
    EXPECT_THAT(result.error, HasSubstr(quoted_text(bad)));
  }
  EXPECT_THAT(read_text("1 2 1\n1 3\n", weighted()).error,
              HasSubstr("graph.txt:2: expected a weight in column 3, found \"1 3\""));
}

TEST(EdgeReader, RoundsAWeightOf400DigitsAsOneNumber) {
  const ReadResult result = read_text("1 2 0." + std::string(400, '3') + "\n", weighted());
  ASSERT_EQ(result.edges.size(), 1u);
  EXPECT_EQ(std::get<2>(result.edges[0]), 1.0 / 3);
}

TEST(EdgeReader, NamesTheLineOfANulByteACarriageReturnAndALongLine) {
  EXPECT_THAT(read_text("1 2\n3 \0 4\n"s).error, HasSubstr("graph.txt:2: a NUL byte"));
  EXPECT_THAT(read_text("1 2\n3 4 \0\n"s).error, HasSubstr("graph.txt:2: a NUL byte"));
  EXPECT_THAT(read_text("1 2\n# \0 4\n"s).error, HasSubstr("graph.txt:2: a NUL byte"));
  EXPECT_THAT(read_text("1 2\n3 4\r5 6\n").error, HasSubstr("graph.txt:2: a carriage return"));
  EXPECT_THAT(read_text("1 2\n3 4 x\r5 6\n").error, HasSubstr("graph.txt:2: a carriage return"));
  EXPECT_THAT(read_text("1 2\r3 4\r").error, HasSubstr("graph.txt:1: lines end in CR alone"));
  for (int ranks : {1, 3}) {
    const std::string line = "1 2\n" + std::string(10 << 20, '7');
    EXPECT_THAT(read_text(line, {}, ranks).error, HasSubstr("graph.txt:2: line longer than the limit"));
    EXPECT_THAT(read_text(line + "\n3 4\n", {}, ranks).error,
                HasSubstr("graph.txt:2: line longer than the limit"));
  }
}

TEST(EdgeReader, SkipsACommentOf10Megabytes) {
  for (int ranks : {1, 3}) {
    const ReadResult result = read_text("1 2\n#" + std::string(10 << 20, 'x') + "\n3 4\n", {}, ranks);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.edges, kTwoEdges);
    EXPECT_EQ(result.sums.lines_read, 3u);
    EXPECT_EQ(read_text("#" + std::string(10 << 20, 'x') + "\n1 2\n3 4", {}, ranks).edges, kTwoEdges);
  }
}

TEST(EdgeReader, IgnoresAHundredColumns) {
  std::string line = "1 2";
  for (int i = 0; i < 98; ++i) line += " 7";
  const ReadResult result = read_text(line + "\n3 4\n");
  EXPECT_EQ(result.edges, kTwoEdges);
  EXPECT_EQ(result.sums.extra_columns, 1u);
}

TEST(EdgeReader, MissingFilesFoldersAndBinariesAreRefusedOnAllRanks) {
  for (int ranks : {1, 3}) {
    EXPECT_THAT(read_input({}, testing::TempDir() + "tessera-none", ranks).error, HasSubstr("No such file"));
    EXPECT_THAT(read_input({}, testing::TempDir(), ranks).error, HasSubstr("Is a directory"));
    const std::string png = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0\x90wS\xde"s;
    EXPECT_THAT(read_text(png, {}, ranks).error, HasSubstr("graph.txt: not a text file"));
  }
  EXPECT_THAT(read_text(std::string("\xFF\xFE"
                                    "1\0 \0002\0",
                                    8))
                  .error,
              HasSubstr("UTF-16"));
  for (const std::string& text : {"\xFF\xFE\0\0001\0\0\0\n\0\0\0"s, "\0\0\xFE\xFF\0\0\0001\0\0\0\n"s})
    EXPECT_THAT(read_text(text).error, HasSubstr("graph.txt: UTF-32 text"));
  EXPECT_THAT(read_text("<?xml version=\"1.0\"?>\n<graphml/>\n").error, HasSubstr("XML"));
}

TEST(EdgeReader, ReadsAPipe) {
  std::string folder = testing::TempDir() + "tessera-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i) + " 5\n";
  std::thread writer([&] { std::ofstream(path) << text; });
  const ReadResult result = read_input({}, path, 3, {5000, 2});
  writer.join();
  EXPECT_EQ(result.error, "");
  ASSERT_EQ(result.edges.size(), 100000u);
  EXPECT_EQ(result.edges[77777], (Edge{"77777", "5", 1}));
  unlink(path.c_str());
  rmdir(folder.c_str());
}

TEST(EdgeReader, StopsWhenProgressSaysSo) {
  const InputText file("1 2\n3 4\n");
  GraphOptions options;
  options.path = file.path();
  const auto comm = make_single_rank();
  std::uint64_t total = 0;
  const auto stop = [&](std::uint64_t, std::uint64_t bytes_total) {
    total = bytes_total;
    return false;
  };
  try {
    read_edges(options, *comm, stop, {1 << 20, 1});
    FAIL() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), ErrorCategory::interrupted);
  }
  EXPECT_EQ(total, 8u);
}

RC_GTEST_PROP(EdgeReader, GivesBackAnyIntegerEdges,
              (const std::vector<std::pair<std::uint64_t, std::uint32_t>>& pairs)) {
  std::string text;
  std::vector<Edge> expected;
  const int shape = *rc::gen::inRange(0, 4);
  const char* const separators[] = {" ", "\t", ",", ", "};
  for (const auto& [u, v] : pairs) {
    text += std::to_string(u) + separators[shape] + std::to_string(v) + "\n";
    expected.emplace_back(std::to_string(u), std::to_string(v), 1);
  }
  const int ranks = *rc::gen::inRange(1, 5);
  const auto block = *rc::gen::inRange<std::size_t>(1, 200);
  const ReadResult result = read_text(text, {}, ranks, {block, 2});
  RC_ASSERT(result.error.empty());
  RC_ASSERT(result.edges == expected);
}

}  // namespace
}  // namespace tessera::test
