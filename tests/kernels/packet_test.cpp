#include "kernels/formats/packet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/random_matrix.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

template <class T>
std::vector<T> list_of(const Buffer<T>& buffer) {
  return {buffer.begin(), buffer.end()};
}

RandomMatrix square_of(const std::vector<std::set<VertexId>>& rows) {
  RandomMatrix a;
  a.num_rows = a.num_cols = rows.size();
  a.row_offsets.push_back(0);
  for (const auto& row : rows) {
    a.col_indices.insert(a.col_indices.end(), row.begin(), row.end());
    a.row_offsets.push_back(a.col_indices.size());
  }
  return a;
}

/// Groups of vertices v, v + num_groups, ...: all point to all of their group, the first also to the next
/// vertex.
RandomMatrix groups(std::uint32_t num_groups, std::uint32_t size) {
  std::vector<std::set<VertexId>> rows(std::size_t{num_groups} * size);
  for (VertexId v = 0; v < rows.size(); ++v)
    for (std::uint32_t i = 0; i < size; ++i) rows[v].insert(v % num_groups + i * num_groups);
  for (VertexId v = 0; v < num_groups; ++v) rows[v].insert(v + 1);
  return square_of(rows);
}

/// Of a matrix that does not suit the form; empty: it does.
std::string refusal(const CsrView<double>& a, std::uint32_t most_rows) {
  try {
    Packet<float>(a, most_rows);
    return "";
  } catch (const OptionError& error) {
    return error.what();
  }
}

bool has_metis() {
  try {
    Packet<float>(groups(2, 8).view(), 12);
  } catch (const ResourceError& error) {
    const std::string reason = error.what();
    return reason.find("this build has no METIS") == std::string::npos &&
           reason.find("METIS cannot be loaded") == std::string::npos;
  }
  return true;
}

template <class S>
void expect_product(const RandomMatrix& a, const Packet<S>& form) {
  std::vector<S> x(a.num_cols), y(a.num_rows, -5);
  for (std::size_t c = 0; c < x.size(); ++c) x[c] = 1 + static_cast<S>(c % 3);
  multiply_on_host(form, x.data(), y.data());
  EXPECT_EQ(form.num_stored(), a.col_indices.size());
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    S expected = 0;
    for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
      expected += (a.values.empty() ? 1 : static_cast<S>(a.values[k])) * x[a.col_indices[k]];
    EXPECT_NEAR(y[row], expected, 1e-11 * (1 + expected)) << row;
  }
}

TEST(Packet, ElementsOfOnePartAreAPacket) {
  const RandomMatrix a = square_of({{0, 1}, {1, 3}, {0, 1, 2}, {}, {2, 4}});

  const Packet<float> form(a.view(), 100, {7, 2, 7, 2, 7});

  ASSERT_EQ(form.num_parts(), 2u);
  EXPECT_EQ(form.largest_part, 3u);
  EXPECT_EQ(list_of(form.rows), (std::vector<VertexId>{1, 3, 0, 2, 4}));
  std::vector<std::pair<int, int>> places;
  for (const PacketPlace& place : form.places) places.emplace_back(place.row, place.column);
  EXPECT_EQ(places,
            (std::vector<std::pair<int, int>>{{0, 0}, {0, 1}, {0, 0}, {1, 0}, {1, 1}, {2, 1}, {2, 2}}));
  EXPECT_EQ(list_of(form.rest.row_indices), (std::vector<VertexId>{0, 2}));
  EXPECT_EQ(list_of(form.rest.col_indices), (std::vector<VertexId>{1, 1}));
  expect_product(a, form);
}

TEST(Packet, PartsThatAreTooLargeAreCutFurther) {
  const Packet<double> form(square_of({{0}, {1}, {2}, {3}, {4}}).view(), 2, {0, 0, 0, 0, 0});

  ASSERT_EQ(form.num_parts(), 3u);
  EXPECT_EQ(form.parts[2].first_row, 4u);
  EXPECT_EQ(form.num_stored(), 5u);
  EXPECT_EQ(form.rest.num_stored(), 0u);
}

TEST(Packet, IsAProductWithAnyParts) {
  const RandomMatrix a = random_matrix(12, 300, 300, 20, true);
  expect_product(a, Packet<double>(a.view()));
  std::vector<std::uint32_t> parts(300, 0);
  for (VertexId v = 250; v < 300; ++v) parts[v] = v % 3;
  expect_product(a, Packet<double>(a.view(), 290, parts));
}

TEST(Packet, MetisFindsGroupsAndAlwaysTheSame) {
  if (!has_metis()) GTEST_SKIP() << "no METIS here";
  const RandomMatrix a = groups(20, 30);

  const Packet<double> form(a.view(), 32), again(a.view(), 32);  // 20 parts

  EXPECT_EQ(form.num_parts(), 20u);
  EXPECT_EQ(form.largest_part, 30u);
  EXPECT_EQ(form.rest.num_stored(), 20u);
  EXPECT_EQ(list_of(form.rows), list_of(again.rows));
  expect_product(a, form);
}

TEST(Packet, GraphsWithoutEdgesAreCut) {
  if (!has_metis()) GTEST_SKIP() << "no METIS here";
  std::vector<std::set<VertexId>> rows(100);
  for (VertexId v = 0; v < 100; v += 2) rows[v] = {v};
  const RandomMatrix a = square_of(rows);
  const Packet<double> form(a.view(), 16);
  EXPECT_GE(form.num_parts(), 7u);
  expect_product(a, form);
  const RandomMatrix none = square_of({});
  EXPECT_EQ(Packet<float>(none.view()).num_parts(), 0u);
}

TEST(Packet, RefusalsHaveTheFigures) {
  EXPECT_THAT(refusal(random_matrix(1, 30, 20, 3, false).view(), 40),
              HasSubstr("packet: the matrix is 30 x 20; only a square one"));
  if (!has_metis()) GTEST_SKIP() << "no METIS here";
  const RandomMatrix a = groups(1, 100);  // 10,000 elements, all to all
  EXPECT_THAT(
      refusal(a.view(), 20),
      testing::MatchesRegex("packet would store [89][0-9]+ of 10000 elements outside its [0-9]+ packets.*"));
}

TEST(Packet, ACutThatTakesTooLongIsGivenUp) {
  if (!has_metis()) GTEST_SKIP() << "no METIS here";
  const RandomMatrix a = random_matrix(1, 200000, 200000, 20, false);
  try {
    cut_graph(a.view(), 100, 1);
    ADD_FAILURE() << "METIS was faster than a second";
  } catch (const ResourceError& error) {
    EXPECT_STREQ(error.what(), "packet: METIS has not cut the graph in 1 seconds");
  }
}

}  // namespace
}  // namespace tessera::test
