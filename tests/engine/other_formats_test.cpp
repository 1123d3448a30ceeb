// Formats of other programs are named, and edge lists that look a little like them are read.
#include "engine/io/other_formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/input_files.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

void expect_named(const std::string& name, std::initializer_list<const char*> texts) {
  for (const char* text : texts)
    EXPECT_THAT(read_text(text).error, HasSubstr("this looks like " + name + ", which is not read")) << text;
}

TEST(OtherFormats, AreNamed) {
  expect_named(
      "GML", {"graph [\n node [ id 1 ]\n]\n", "graph\n[\n  node\n", "Graph\t[\n", "# made by x\n\ngraph\n[\n",
              "graph [ node [ id 1 ] ]\n", "graph [ directed 1\n", "Creator \"x\"\ngraph [\n"});
  expect_named("lines with arrows", {"a -> b\nb -> c\n", "# x\na -- b 1\n", "a => b\n\nb => c x\n"});
  expect_named("DOT", {"digraph G {\n a -> b\n}\n", "graph G {\n", "graph {\n", "graph{\n", "digraph\n{\n",
                       "strict graph \"my graph\" {\n", "digraph G\n{ a -> b }\n", "graph G { a -- b }\n",
                       "// made by x\ndigraph G {a; b}\n"});
  expect_named("JSON", {"{\"nodes\": []}\n", "[\n  {\n", "[{\n", "[{\"source\": 1,\n", "[[1, 2],\n[2, 3]]\n",
                        "[1,2]\n[2,3]\n", "[ [\"a\", \"b\"] ]\n"});
  expect_named("DIMACS", {"p sp 3 2\na 1 2 4\n", "c roads\nc of x\np sp 3 2\nc arcs\na 1 2 4\n",
                          "p edge 3 1\ne 1 2\n", "c\np max 3 1\nn 1 s\n", "p col 3 1\r\ne 1 2\r\n"});
}

TEST(OtherFormats, TheLineIsThatOfTheData) {
  EXPECT_THAT(read_text("# made by x\n\ngraph [\n").error, HasSubstr("graph.txt:3: this looks like GML"));
  EXPECT_THAT(read_text("\xEF\xBB\xBF{\"a\": 1}\n").error, HasSubstr("graph.txt:1: this looks like JSON"));
}

TEST(OtherFormats, LabelsMayBeTheirWords) {
  for (const char* text : {"graph node\nnode edge\n",
                           "graph [tool]\n[tool] x\n",
                           "graph\t[Graph tool]\nx\ty\n",
                           "graph {x}\n{x} y\n",
                           "graph x\n{x} y\n",
                           "digraph graph\ngraph {\n",
                           "digraph x\nx y\n",
                           "strict graph\ngraph x\n",
                           "graphs [\n[ x\n",
                           "p q\nq r\n",
                           "p sp 3 2\nq sp 1 4\n",
                           "p q 3 2\na 1 2 4\n",
                           "p sp 3 2\na b 2 4\n",
                           "p sp\na 1\n",
                           "c d\nc p\np e\n",
                           "a 1\ne 2\nn 3\n",
                           "[a] [b]\n[b] [c]\n",
                           "[[1984]] [[Orwell]]\n[[a]] [[b]]\n",
                           "[0, 1]\t[1, 1]\n[1, 1]\t[0, 0]\n",
                           "[1] [2]\n[2] [3]\n",
                           "[{x}] y\ny z\n",
                           "graph,node\np,sp\n"}) {
    const ReadResult result = read_text(text);
    EXPECT_EQ(result.error, "") << text;
    EXPECT_GE(result.edges.size(), 2u) << text;
  }
}

TEST(OtherFormats, AreReadAsEdgeListsWhereThatIsAskedFor) {
  GraphOptions options;
  options.format = InputFormat::edge_list;
  EXPECT_EQ(read_text("p sp 3 2\na 1 2 4\n", options).edges.size(), 2u);
}

}  // namespace
}  // namespace tessera::test
