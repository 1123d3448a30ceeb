// Matrix Market: what is read, and what is refused by name.
#include "engine/io/matrix_market_header.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/input_files.hpp"

namespace tessera::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kPattern = "%%MatrixMarket matrix coordinate pattern general\n";

TEST(MatrixMarketHeader, EntryRowColumnIsAnEdgeAndTheSizeIsKept) {
  const ReadResult result = read_text(kPattern + "% c\n5 5 2\n1 2\n5 4\n", {}, 3, {4, 2});
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.first.kind, LabelKind::range);
  EXPECT_EQ(result.first.declared_vertices, 5u);
  EXPECT_EQ(result.first.first_label, 1u);
  EXPECT_FALSE(result.first.weighted);
  EXPECT_THAT(result.edges, ElementsAre(Edge{"1", "2", 1}, Edge{"5", "4", 1}));
}

TEST(MatrixMarketHeader, IsLenientAboutTheForm) {
  for (const char* text :
       {"%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n",
        "%%matrixmarket MATRIX Coordinate PATTERN General\r\n\r\n% c\r\n2 2 1\r\n1 2\r\n",
        "  %%MatrixMarket matrix coordinate pattern general\n\n 2\t2 1 \n\n  1 \t 2 \n\n# c\n",
        "\xEF\xBB\xBF%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2"}) {
    const ReadResult result = read_text(text);
    EXPECT_EQ(result.error, "") << text;
    EXPECT_THAT(result.edges, ElementsAre(Edge{"1", "2", 1})) << text;
  }
}

TEST(MatrixMarketHeader, ValuesAreWeightsUnlessToldOtherwise) {
  for (const char* field : {"real", "integer"}) {
    const std::string text =
        std::string("%%MatrixMarket matrix coordinate ") + field + " symmetric\n2 2 2\n1 1 0\n2 1 3\n";
    ReadResult result = read_text(text);
    EXPECT_TRUE(result.first.weighted);
    EXPECT_TRUE(result.first.undirected);
    EXPECT_EQ(result.sums.zero_weights, 1u);
    EXPECT_THAT(result.edges, ElementsAre(Edge{"1", "1", 0}, Edge{"2", "1", 3}));
    GraphOptions options;
    options.unweighted = options.directed = true;
    result = read_text(text, options);
    EXPECT_FALSE(result.first.weighted);
    EXPECT_FALSE(result.first.undirected);
  }
}

TEST(MatrixMarketHeader, NegativeAndMissingValues) {
  const std::string text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 ";
  EXPECT_THAT(read_text(text + "-3\n").error, HasSubstr("graph.txt:3: expected a finite value"));
  EXPECT_THAT(read_text(text + "-3\n").error, HasSubstr("--unweighted"));
  EXPECT_THAT(read_text(text + "\n").error, HasSubstr("graph.txt:3: expected a value in column 3"));
  GraphOptions options;
  options.unweighted = true;
  EXPECT_EQ(read_text(text + "-3\n", options).edges.size(), 1u);
  EXPECT_THAT(read_text(text + "x\n", options).error, HasSubstr("graph.txt:3: expected a number"));
  EXPECT_EQ(read_text("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 -3\n", options)
                .edges.size(),
            1u);
  options = {};
  options.weighted = true;
  EXPECT_THAT(read_text(kPattern + "2 2 1\n1 2\n", options).error, HasSubstr("no values"));
}

TEST(MatrixMarketHeader, RefusesByName) {
  for (const char* word : {"array", "complex", "hermitian", "vector"}) {
    std::string banner = "%%MatrixMarket matrix coordinate real general\n";
    const char* replaced = word == std::string("array")     ? "coordinate"
                           : word == std::string("complex") ? "real"
                           : word == std::string("vector")  ? "matrix "
                                                            : "general";
    const std::string old = replaced;
    banner.replace(banner.find(old), old.size(), old.back() == ' ' ? std::string(word) + " " : word);
    EXPECT_THAT(read_text(banner + "1 1 1\n1 1 1\n").error, HasSubstr("graph.txt:1: ")) << word;
    EXPECT_THAT(read_text(banner + "1 1 1\n1 1 1\n").error,
                HasSubstr("\"" + std::string(word) + "\" is not read"));
  }
  EXPECT_THAT(read_text(kPattern + kPattern + "1 1 1\n1 1\n").error,
              HasSubstr("graph.txt:2: a second Matrix Market banner"));
  EXPECT_THAT(read_text(kPattern + "1 1 1\n1 1\n" + kPattern).error,
              HasSubstr("graph.txt:4: a second Matrix Market banner"));
  EXPECT_THAT(read_text(kPattern + "1 1 1\n%%matrixmarket matrix array\n1 1\n").error,
              HasSubstr("graph.txt:3: a second Matrix Market banner"));
}

TEST(MatrixMarketHeader, CommentsMaySpeakOfMatrices) {
  const auto found = read_text(kPattern + "% a matrix coordinate file\n1 1 1\n% MatrixMarket\n1 1\n");
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.edges.size(), 1u);
}

TEST(MatrixMarketHeader, RefusesBadSizeLines) {
  for (const char* line : {"2 2", "2 2 -1", "-2 -2 1", "a b c", "2 2 1 1", "2.0 2.0 1",
                           "18446744073709551616 18446744073709551616 1"})
    EXPECT_THAT(read_text(kPattern + line + "\n1 2\n").error,
                HasSubstr("graph.txt:2: expected the size line"))
        << line;
  EXPECT_THAT(read_text(kPattern + "% only\n").error,
              HasSubstr("size line \"ROWS COLUMNS ENTRIES\" is missing"));
  EXPECT_THAT(read_text(kPattern).error, HasSubstr("is missing"));
  EXPECT_THAT(read_text(kPattern + "2 3 1\n1 2\n").error, HasSubstr("graph.txt:2: 2 x 3 is not square"));
  EXPECT_THAT(read_text("%%MatrixMarket matrix coordinate pattern symmetric\n2 3 1\n1 2\n").error,
              HasSubstr("not square, but the banner says symmetric"));
}

TEST(MatrixMarketHeader, RefusesSizesBeforeAnythingIsAllocated) {
  EXPECT_THAT(read_text(kPattern + "1000000000000000 1000000000000000 1\n1 1\n").error,
              HasSubstr("rows, at most"));
  EXPECT_THAT(read_text(kPattern + "9 9 4611686018427387904\n1 1\n").error,
              HasSubstr("but only 4 bytes follow"));
}

TEST(MatrixMarketHeader, CountsMustAgree) {
  for (int ranks : {1, 3}) {
    EXPECT_THAT(read_text(kPattern + "3 3 2\n1 2\n2 1\n3 1\n", {}, ranks).error,
                HasSubstr("the size line (line 2) states 2 entries, the file has 3"));
    EXPECT_THAT(read_text(kPattern + "3 3 3\n1 2\n% comment\n2 1\n", {}, ranks).error,
                HasSubstr("the size line (line 2) states 3 entries, the file has 2"));
  }
}

TEST(MatrixMarketHeader, IndicesMustBeInRange) {
  for (const char* index : {"0", "4", "18446744073709551616", "-1", "x", "01"}) {
    const ReadResult result = read_text(kPattern + "3 3 2\n1 2\n" + index + " 1\n");
    EXPECT_THAT(result.error, HasSubstr("graph.txt:4: expected an index from 1 to 3, found \"" +
                                        std::string(index) + "\""));
  }
  EXPECT_THAT(read_text(kPattern + "3 3 2\n1 2\n1\n% fill\n").error,
              HasSubstr("graph.txt:4: expected a row and a column index"));
}

}  // namespace
}  // namespace tessera::test
