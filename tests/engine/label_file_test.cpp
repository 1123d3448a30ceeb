#include "engine/io/label_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/input_files.hpp"

namespace tessera::test {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using Values = std::vector<std::pair<std::string, double>>;

Values values_of(const std::string& text, const std::string& column = "score") {
  const InputText file(text, "p.tsv");
  Values values;
  run_ranks(2, [&](Communicator& comm) {
    const std::vector<LabelValue> read = read_label_values(file.path(), column, comm);
    if (comm.rank() != 1) return;
    for (const LabelValue& v : read) values.emplace_back(v.label, v.value);
  });
  return values;
}

std::string error_of(const std::string& text) {
  try {
    values_of(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(LabelFile, ReadsLabelsWithValuesInAnyDelimiter) {
  const Values expected = {{"a", 0.5}, {"b", 2}};
  for (const char* text :
       {"a 0.5\nb 2\n", "a\t0.5\nb\t2", "a,0.5\r\nb,2\r\n", "a;0.5\nb;2\n", "# c\n\n\"a\",0.5\n\"b\",2\n",
        "node,score\na,0.5\nb,2\n", "node\tscore\trank\na\t0.5\t1\nb\t2\t2\n",
        "\xEF\xBB\xBF"
        "a 5e-1 x\nb +2\n"})
    EXPECT_EQ(values_of(text), expected) << text;
  EXPECT_EQ(values_of("\"x, \"\"y\"\"\",1\n"), (Values{{"x, \"y\"", 1}}));
  EXPECT_EQ(values_of("x y\t1\n"), (Values{{"x y", 1}}));
}

TEST(LabelFile, ALabelAloneMayHaveAValue) {
  const auto comm = make_single_rank();
  for (const char* text : {"a\nb 3\n", "a\nb,3\n", "\"a\"\n\"b\",3\n"}) {
    const InputText file(text, "p.tsv");
    EXPECT_THROW(read_label_values(file.path(), "weight", *comm), InputError);
    const std::vector<LabelValue> values = read_label_values(file.path(), "weight", *comm, 1.0);
    ASSERT_EQ(values.size(), 2u);
    EXPECT_EQ(values[0].label, "a");
    EXPECT_EQ(values[0].value, 1);
    EXPECT_EQ(values[1].label, "b");
    EXPECT_EQ(values[1].value, 3);
  }
}

TEST(LabelFile, TheHeaderSaysWhichColumnHasTheValue) {
  const std::string text = "node\tauthority\thub\na\t0.5\t3\nb\t2\t4\n";
  EXPECT_EQ(values_of(text, "hub"), (Values{{"a", 3}, {"b", 4}}));
  EXPECT_EQ(values_of(text, "authority"), (Values{{"a", 0.5}, {"b", 2}}));
  EXPECT_EQ(values_of(text, "score"), (Values{{"a", 0.5}, {"b", 2}}));  // not named: the second
}

TEST(LabelFile, NamesTheLineOfABadValue) {
  EXPECT_THAT(error_of("a 1\nb\n"), HasSubstr("p.tsv:2: expected a label and a number, found \"b\""));
  for (const char* bad : {"-1", "nan", "inf", "x", "1e999"})
    EXPECT_THAT(error_of("a 1\n# c\nb " + std::string(bad)), HasSubstr("p.tsv:3: expected a finite number"))
        << bad;
  EXPECT_THAT(error_of("a,1\n,2\n"), HasSubstr("p.tsv:2: the label is empty"));
  EXPECT_THAT(error_of("a,1\n\"b,2\n"), HasSubstr("p.tsv:2: a quote that is not closed"));
  EXPECT_THAT(error_of("a 1\nb\0 2\n"s), HasSubstr("p.tsv:2: a NUL byte"));
}

TEST(LabelFile, SaysThatThereAreNoLabels) {
  for (const char* text : {"", "# nothing\n", "\n \n", "node\tscore\n"})
    EXPECT_EQ(error_of(text).substr(error_of(text).rfind('/') + 1),
              "p.tsv: holds no labels, expected lines with a label and a number")
        << text;
}

TEST(LabelFile, NamesTheKindOfAFileWithoutLines) {
  const std::string expected =
      "p.tsv: expected lines with a label and a number, as .tsv and .csv have, found ";
  EXPECT_THAT(error_of("{\"rankings\": [\n{\"nodes\": [\n]}\n]}\n"), HasSubstr(expected + "JSON"));
  EXPECT_THAT(error_of("\n [\n1]\n"), HasSubstr(expected + "JSON"));
  EXPECT_THAT(error_of("\x93NUMPY\1\0v\0{}\n"s), HasSubstr(expected + "a NumPy array"));
  EXPECT_THAT(error_of("\x89TSR\r\n\x1a\n\0\0"s), HasSubstr(expected + "a cache of a graph"));
  EXPECT_EQ(values_of("{a} 1\n"), (Values{{"{a}", 1}}));
  EXPECT_THAT(error_of("{a} 1\nb\n"), HasSubstr("p.tsv:2: expected a label and a number"));
}

TEST(LabelFile, AListHasOneLabelALine) {
  const InputText file("# q\nAda Lovelace\r\n\n\"x, \"\"y\"\"\"\nlast", "q.txt");
  run_ranks(3, [&](Communicator& comm) {
    const std::vector<LabelValue> list = read_label_list(file.path(), comm);
    ASSERT_EQ(list.size(), 3u);
    EXPECT_EQ(list[0].label, "Ada Lovelace");
    EXPECT_EQ(list[0].line, 2u);
    EXPECT_EQ(list[1].label, "x, \"y\"");
    EXPECT_EQ(list[2].label, "last");
  });
}

TEST(LabelFile, AListHasCommentsAndQuotesAroundLabelsThatLookLikeThem) {
  const InputText file(
      "# c\n  % c\n// c\n\"#1\"\n\"%2\"\n\"//3\"\n/4 # no comment\n\" 5 \"\n\"6\n\"a\" b\n7\"\n", "q.txt");
  run_ranks(1, [&](Communicator& comm) {
    std::vector<std::string> labels;
    for (const LabelValue& read : read_label_list(file.path(), comm)) labels.push_back(read.label);
    EXPECT_THAT(labels, ElementsAre("#1", "%2", "//3", "/4 # no comment", " 5 ", "\"6", "\"a\" b", "7\""));
  });
}

TEST(LabelFile, AMissingFileFailsOnAllRanks) {
  EXPECT_THROW(
      run_ranks(3, [](Communicator& comm) { read_label_list(testing::TempDir() + "tessera-none", comm); }),
      InputError);
}

TEST(FindLabels, AsksAllRanks) {
  run_ranks(3, [](Communicator& comm) {
    LabelTable table;  // labels 1 .. 7: ranks hold 1-3, 4-6 and 7
    table.first_label = 1;
    table.first_id = static_cast<VertexId>(3 * comm.rank());
    table.count = comm.rank() == 2 ? 1 : 3;
    const std::vector<std::string> labels = {"7", "1", "8", "x", "4"};
    const std::vector<VertexId> ids = find_labels(labels, table, comm);
    EXPECT_THAT(ids, ElementsAre(6, 0, kNoVertex, kNoVertex, 3));
    EXPECT_TRUE(find_labels({}, table, comm).empty());
  });
}

}  // namespace
}  // namespace tessera::test
