#include "engine/label_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <set>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

LabelTable integer_table(const std::vector<std::uint64_t>& labels, VertexId first_id) {
  LabelTable table;
  table.kind = LabelKind::integer;
  table.first_id = first_id;
  table.count = labels.size();
  table.integers = Buffer<std::uint64_t>(labels.size());
  std::copy(labels.begin(), labels.end(), table.integers.begin());
  return table;
}

LabelTable string_table(const std::set<std::string>& labels, VertexId first_id) {
  LabelTable table;
  table.kind = LabelKind::string;
  table.first_id = first_id;
  table.count = labels.size();
  table.string_offsets = Buffer<std::uint64_t>(labels.size() + 1);
  std::string bytes;
  std::size_t i = 0;
  for (const std::string& label : labels) {
    table.string_offsets[i++] = bytes.size();
    bytes += label;
  }
  table.string_offsets[i] = bytes.size();
  table.string_bytes = Buffer<char>(bytes.size());
  if (!bytes.empty()) std::memcpy(table.string_bytes.data(), bytes.data(), bytes.size());
  return table;
}

TEST(ParseCanonicalInteger, TakesExactlyTheCanonicalUnsignedIntegers) {
  std::uint64_t value = 7;
  for (const char* text :
       {"", "007", "00", "+7", "-1", "18446744073709551616", "1 ", " 1", "1.0", "1e3", "0x1", "a"})
    EXPECT_FALSE(parse_canonical_integer(text, value)) << text;
  EXPECT_EQ(value, 7u);
  EXPECT_TRUE(parse_canonical_integer("0", value));
  EXPECT_EQ(value, 0u);
  EXPECT_TRUE(parse_canonical_integer("18446744073709551615", value));
  EXPECT_EQ(value, 18446744073709551615u);
}

TEST(LabelTable, RangeLabelsStartAtTheFirstLabelOfTheWholeGraph) {
  LabelTable table;
  table.first_label = 1;
  table.first_id = 10;
  table.count = 5;
  EXPECT_EQ(table.text(10), "11");
  EXPECT_EQ(table.find("11"), 10u);
  EXPECT_EQ(table.find("15"), 14u);
  for (const char* text : {"0", "10", "16", "011", "x", "18446744073709551615"})
    EXPECT_EQ(table.find(text), kNoVertex) << text;
  EXPECT_THROW(table.text(9), InternalError);
  EXPECT_THROW(table.text(15), InternalError);
}

TEST(LabelTable, FindsIntegersByTheirCanonicalText) {
  const LabelTable table = integer_table({0, 5, 18446744073709551615u}, 3);
  EXPECT_EQ(table.find("0"), 3u);
  EXPECT_EQ(table.find("5"), 4u);
  EXPECT_EQ(table.find("18446744073709551615"), 5u);
  EXPECT_EQ(table.text(5), "18446744073709551615");
  for (const char* text : {"05", "+5", "4", "6", "five"}) EXPECT_EQ(table.find(text), kNoVertex) << text;
  EXPECT_EQ(integer_table({}, 0).find("5"), kNoVertex);
}

RC_GTEST_PROP(LabelTable, FindsEveryStringAndNoOther,
              (const std::set<std::string>& labels, const std::string& other)) {
  const LabelTable table = string_table(labels, 100);
  VertexId id = 100;
  for (const std::string& label : labels) {
    RC_ASSERT(table.find(label) == id);
    RC_ASSERT(table.text(id) == label);
    ++id;
  }
  RC_ASSERT((table.find(other) == kNoVertex) == (labels.count(other) == 0));
}

}  // namespace
}  // namespace tessera
