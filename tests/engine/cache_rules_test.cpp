#include "engine/io/cache_rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/base/error.hpp"
#include "tests/support/sample_graph.hpp"

namespace tessera::test {
namespace {

Graph some_edges() { return sample_graph({{0, 1}, {1, 0}, {2, 2}, {3, 1}}, range_labels(5, 0), false); }

TEST(ApplyCacheOptions, AsksForADeviceOnlyWhereADirectionIsMissing) {
  const auto comm = make_single_rank();
  GraphOptions options;
  std::vector<std::uint64_t> asked;
  options.may_use_device = [&](std::uint64_t num_edges) {
    asked.push_back(num_edges);
    return true;
  };
  apply_cache_options(some_edges(), options, *comm);
  EXPECT_TRUE(asked.empty());
  options.undirected = true;
  const Graph both = apply_cache_options(some_edges(), options, *comm);
  EXPECT_EQ(asked, (std::vector<std::uint64_t>{4}));
  options.may_use_device = nullptr;
  const Graph by_host = apply_cache_options(some_edges(), options, *comm);
  EXPECT_EQ(both.num_edges, 5u);
  EXPECT_TRUE(std::ranges::equal(both.row_offsets, by_host.row_offsets));
  EXPECT_TRUE(std::ranges::equal(both.col_indices, by_host.col_indices));
  Graph undirected = some_edges();
  undirected.facts.undirected = true;
  options.may_use_device = [](std::uint64_t) -> bool { throw InternalError("nothing is missing"); };
  EXPECT_NO_THROW(apply_cache_options(std::move(undirected), options, *comm));
}

}  // namespace
}  // namespace tessera::test
