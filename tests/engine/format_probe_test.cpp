// What is found out about a text from its first lines: delimiters, quotes, headers, columns, KONECT.
#include "engine/io/format_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/support/input_files.hpp"

namespace tessera::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

GraphOptions columns(const std::string& choice) {
  GraphOptions options;
  options.columns = choice;
  return options;
}

TEST(FormatProbe, FindsTheDelimiter) {
  for (const char* text :
       {"1,2\n3,4\n", "1;2\n3;4\n", "1|2\n3|4\n", "1, 2\n3 ,4\n", "\"1\",\"2\"\n3,4\n", "1,2\r\n3,4"}) {
    const ReadResult result = read_text(text);
    EXPECT_EQ(result.error, "") << text;
    EXPECT_THAT(result.edges, ElementsAre(Edge{"1", "2", 1}, Edge{"3", "4", 1})) << text;
    EXPECT_EQ(result.first.facts.format, "CSV");
  }
}

TEST(FormatProbe, TabsMayHoldLabelsWithBlanks) {
  const ReadResult result = read_text("Ada Lovelace\tCharles Babbage\nCharles Babbage\tAda Lovelace\n");
  EXPECT_THAT(result.edges, ElementsAre(Edge{"Ada Lovelace", "Charles Babbage", 1},
                                        Edge{"Charles Babbage", "Ada Lovelace", 1}));
  EXPECT_EQ(result.first.facts.format, "TSV");
}

TEST(FormatProbe, DelimitersWithinLabelsBelongToThem) {
  const auto edges_of = [](const char* text) { return read_text(text).edges; };
  EXPECT_THAT(edges_of("sp|P1|A sp|P2|B\nsp|P2|B sp|P3|C\n"),
              ElementsAre(Edge{"sp|P1|A", "sp|P2|B", 1}, Edge{"sp|P2|B", "sp|P3|C", 1}));
  EXPECT_THAT(edges_of("http://a/?p=1;q=2 http://b/?p=1;q=3\n"),
              ElementsAre(Edge{"http://a/?p=1;q=2", "http://b/?p=1;q=3", 1}));
  EXPECT_THAT(edges_of("a,x b,y\nb,y c,z\n"), ElementsAre(Edge{"a,x", "b,y", 1}, Edge{"b,y", "c,z", 1}));
  EXPECT_THAT(edges_of("Paris, FR;Rome, IT\nRome, IT;Oslo, NO\n"),
              ElementsAre(Edge{"Paris, FR", "Rome, IT", 1}, Edge{"Rome, IT", "Oslo, NO", 1}));
  // Not everywhere, or in one label only: columns.
  EXPECT_THAT(edges_of("a,b,x;y\nb,c,u;v\n"), ElementsAre(Edge{"a", "b", 1}, Edge{"b", "c", 1}));
  EXPECT_THAT(edges_of("New York,Rome\nParis,New York\n"),
              ElementsAre(Edge{"New York", "Rome", 1}, Edge{"Paris", "New York", 1}));
  EXPECT_THAT(edges_of("1,2,2020-01-01 10:00\n2,3,2020-01-02 11:00\n"),
              ElementsAre(Edge{"1", "2", 1}, Edge{"2", "3", 1}));
}

TEST(FormatProbe, CommasOfWeightsDoNotCutColumns) {
  for (const char* text : {"a;b;0,5\nb;c;1,5\n", "Source;Target;Weight\na;b;0,5\nb;c;1,5\n"}) {
    EXPECT_THAT(read_text(text).edges, ElementsAre(Edge{"a", "b", 1}, Edge{"b", "c", 1})) << text;
    GraphOptions options;
    options.weighted = true;
    EXPECT_THAT(read_text(text, options).error, HasSubstr("written with a decimal point, found \"0,5\""));
  }
}

TEST(FormatProbe, AnyDelimiterCanBeAskedFor) {
  GraphOptions options;
  options.delimiter = ':';
  EXPECT_THAT(read_text("a b:c\n", options).edges, ElementsAre(Edge{"a b", "c", 1}));
  EXPECT_THAT(read_text("1:2:9\n", options).edges, ElementsAre(Edge{"1", "2", 1}));
}

TEST(FormatProbe, ReadsQuotesOfRfc4180) {
  const ReadResult result = read_text("\"a, b\",\"say \"\"hi\"\"\"\nc,\"\"\"\"\n");
  EXPECT_THAT(result.edges, ElementsAre(Edge{"a, b", "say \"hi\"", 1}, Edge{"c", "\"", 1}));
  EXPECT_THAT(read_text("a,b\nc,\"d\n").error, HasSubstr("graph.txt:2: a quote that is not closed"));
  // Commas and quotes of a column that nobody reads say nothing of how columns are parted.
  for (const char* quoted : {"\"hello, you\"", "\"Main Street; north\"", "\"x\""}) {
    const auto found = read_text("1 2 " + std::string(quoted) + "\n2 3 " + quoted + "\n3 1 " + quoted + "\n");
    EXPECT_EQ(found.error, "") << quoted;
    EXPECT_EQ(found.edges.size(), 3u) << quoted;
  }
  EXPECT_EQ(read_text("a b \"some text\"\nb c \"more text\"\n").edges.size(), 2u);
  EXPECT_THAT(read_text("a b\n\"c d\" e\n").error, HasSubstr("graph.txt:2: a label in quotes with a blank"));
  EXPECT_THAT(read_text("a,b\nc,\"d\"e\n").error, HasSubstr("graph.txt:2: text after a closing quote"));
  EXPECT_THAT(read_text("a,b\nc,\n").error, HasSubstr("graph.txt:2: the target label is empty"));
  EXPECT_THAT(read_text("a,b\nc\n").error,
              HasSubstr("graph.txt:2: expected two labels separated by \",\", found \"c\""));
}

TEST(FormatProbe, TakesAFirstLineOfNamesAsHeader) {
  for (const char* text : {"source,target\n1,2\n", "foo,bar\n1,2\n", "id_1,id_2\n1,2\n", "# c\nu v\n1 2\n",
                           "Source\tTarget\n1\t2\n", "target,x,source\n2,9,1\n"}) {
    const ReadResult result = read_text(text);
    EXPECT_THAT(result.edges, ElementsAre(Edge{"1", "2", 1})) << text;
    EXPECT_EQ(result.first.kind, LabelKind::integer);
    EXPECT_TRUE(has_note(result, "is a header")) << text;
  }
  GraphOptions weighted;
  weighted.weighted = true;
  EXPECT_THAT(read_text("who whom weight\nann bob 2\n", weighted).edges, ElementsAre(Edge{"ann", "bob", 2}));
  EXPECT_THAT(read_text("who whom many\nann bob 2\n", weighted).error,
              HasSubstr("graph.txt:1: expected a finite weight"));
  EXPECT_THAT(read_text("from,to\nann,bob\n").edges, ElementsAre(Edge{"ann", "bob", 1}));
}

TEST(FormatProbe, FindsAHeaderWhoseDataComesAfterALongComment) {
  for (const char* last : {"1,2\n", "1,2\n2,3\n3,1\n"}) {
    std::string text = "x,y\n";
    while (text.size() < (1 << 18)) text += "# comment\n";
    const ReadResult result = read_text(text + last);
    EXPECT_EQ(result.first.kind, LabelKind::integer);
    EXPECT_EQ(result.edges.size(),
              static_cast<std::size_t>(std::count(last, last + std::strlen(last), '\n')));
    EXPECT_TRUE(has_note(result, "line 1 is a header"));
  }
}

TEST(FormatProbe, TheWeightIsNoEndOfAnEdge) {
  GraphOptions weighted;
  weighted.weighted = true;
  for (const char* text : {"time,source,target,weight\n9,1,2,0.5\n", "count,source,target\n0.5,1,2\n",
                           "weight,source,target,count\n0.5,1,2,9\n"})
    EXPECT_THAT(read_text(text, weighted).edges, ElementsAre(Edge{"1", "2", 0.5})) << text;
  EXPECT_THAT(
      read_text("time,source,target\n9,1,2\n", weighted).error,
      HasSubstr(
          "graph.txt:1: no column is named weight; the header has time, source, target; name the columns"));
  weighted.columns = "source,target";
  EXPECT_THAT(read_text("id,source,target,weight\n9,1,2,0.5\n", weighted).edges,
              ElementsAre(Edge{"1", "2", 0.5}));
  weighted.columns = "3,2";
  EXPECT_THAT(read_text("id,source,target,weight\n9,2,1,0.5\n", weighted).edges,
              ElementsAre(Edge{"1", "2", 0.5}));
  EXPECT_THAT(read_text("9,2,1\n8,4,3\n", weighted).error,
              HasSubstr("--columns \"3,2\": column 3 would be the weight, too"));
  for (const char* bad : {"2,3,3", "2,3,2", "source,target,source"})
    EXPECT_EQ(read_text("id,source,target\n9,1,2\n", columns(bad)).category, 2) << bad;
}

TEST(FormatProbe, KeepsAFirstLineThatMayBeData) {
  for (const char* text : {"-5 -3\n1 2\n", "007 008\n1 2\n", "1.5 2.5\n1 2\n", "1e3 +4\n1 2\n"})
    EXPECT_EQ(read_text(text).edges.size(), 2u) << text;
  EXPECT_THAT(read_text("ann,bob\nbob,cid\n").edges,
              ElementsAre(Edge{"ann", "bob", 1}, Edge{"bob", "cid", 1}));
  EXPECT_EQ(read_text("a 1\n1 2\n").edges.size(), 2u);
  GraphOptions header, no_header;
  header.header = HeaderLine::yes;
  no_header.header = HeaderLine::no;
  EXPECT_THAT(read_text("ann,bob\nbob,cid\n", header).edges, ElementsAre(Edge{"bob", "cid", 1}));
  EXPECT_EQ(read_text("source,target\n1,2\n", no_header).edges.size(), 2u);
  no_header.labels = LabelChoice::integer;
  EXPECT_THAT(read_text("source,target\n1,2\n", no_header).error,
              HasSubstr("graph.txt:1: expected an integer label"));
}

TEST(FormatProbe, ColumnsByNumberOrName) {
  EXPECT_THAT(read_text("9 1 2\n8 3 4\n", columns("2,3")).edges,
              ElementsAre(Edge{"1", "2", 1}, Edge{"3", "4", 1}));
  EXPECT_THAT(read_text("2 0.5 1\n", columns("3,1,2")).edges, ElementsAre(Edge{"1", "2", 0.5}));
  EXPECT_THAT(read_text("w,b,a\n0.5,2,1\n", columns("a,b,w")).edges, ElementsAre(Edge{"1", "2", 0.5}));
  EXPECT_THAT(read_text("w,b,a\n0.5,2,1\n", columns("a,c")).error,
              HasSubstr("graph.txt:1: no column is named \"c\"; the header has w, b, a"));
  EXPECT_THAT(read_text("1 2\n", columns("1,3")).error,
              HasSubstr("graph.txt:1: expected at least 3 columns, found 2"));
  for (const char* bad : {"1", "1,2,3,4", "0,1"})
    EXPECT_EQ(read_text("1 2\n", columns(bad)).category, 2) << bad;
}

TEST(FormatProbe, SourceAndTargetAreTwoColumns) {
  for (const char* choice : {"1,1", "b,b", "b,B", "2,b", "1,1,2"}) {
    const auto result = read_text("a,b\n1,2\n", columns(choice));
    EXPECT_EQ(result.category, 2) << choice;
    EXPECT_THAT(result.error, HasSubstr("source and target are the same column, expected two, as in 1,2"));
  }
  EXPECT_EQ(read_text("", columns("2,2")).category, 2);
  EXPECT_THAT(read_text("a,b\n1,2\n", columns("2,a")).edges, ElementsAre(Edge{"2", "1", 1}));
}

TEST(FormatProbe, KonectHeaderDecidesDirectionAndWeights) {
  ReadResult result =
      read_text("% sym positive\n% 3 2 2\n1 2\t2.5 1082040961\n2 3\t1 1082155839\n", {}, 2, {}, "out.x");
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.first.facts.format, "KONECT");
  EXPECT_TRUE(result.first.undirected);
  EXPECT_THAT(result.edges, ElementsAre(Edge{"1", "2", 2.5}, Edge{"2", "3", 1}));
  EXPECT_TRUE(has_note(result, "times"));

  result = read_text("% asym unweighted\n1 2 7\n");
  EXPECT_FALSE(result.first.undirected);
  EXPECT_FALSE(result.first.weighted);
  GraphOptions plain;
  plain.unweighted = plain.directed = true;
  result = read_text("% sym posweighted\n1 2 7\n", plain);
  EXPECT_FALSE(result.first.weighted);
  EXPECT_FALSE(result.first.undirected);
  EXPECT_FALSE(read_text("% sym positive\n1 2\n").first.weighted);
  EXPECT_THAT(read_text("% sym signed\n1 2 -1\n").error, HasSubstr("--unweighted"));
}

TEST(FormatProbe, SidesOfABipartiteKonectFileNumberSeparately) {
  const ReadResult result = read_text("% bip unweighted\n1 1\n1 2\n");
  EXPECT_THAT(result.edges, ElementsAre(Edge{"L1", "R1", 1}, Edge{"L1", "R2", 1}));
  EXPECT_TRUE(has_note(result, "bipartite"));
  GraphOptions integer;
  integer.labels = LabelChoice::integer;
  EXPECT_EQ(read_text("% bip unweighted\n1 1\n", integer).category, 2);
}

TEST(FormatProbe, ContentDecidesNotTheName) {
  ReadResult result = read_text("# Nodes: 3\n1 2\n", {}, 1, {}, "snap.mtx");
  EXPECT_THAT(result.edges, ElementsAre(Edge{"1", "2", 1}));
  EXPECT_TRUE(has_note(result, "without a Matrix Market banner"));
  result = read_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", {}, 1, {}, "m.txt");
  EXPECT_EQ(result.first.kind, LabelKind::range);
  EXPECT_TRUE(has_note(result, "because of its banner"));
}

TEST(FormatProbe, AskedForFormatsMustBeThere) {
  GraphOptions options;
  options.format = InputFormat::matrix_market;
  EXPECT_THAT(read_text("1 2\n", options).error, HasSubstr("graph.txt:1: expected the banner"));
  options.format = InputFormat::konect;
  EXPECT_THAT(read_text("1 2\n", options).error, HasSubstr("graph.txt:1: expected a KONECT header"));
  options.format = InputFormat::edge_list;
  EXPECT_THAT(read_text("\"a\",b\n", options).edges, ElementsAre(Edge{"\"a\"", "b", 1}));
}

}  // namespace
}  // namespace tessera::test
