// Suggestions for mistyped names.
#include "tools/nearest_name.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace tessera::cli {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("damping", "damping"), 0u);
  EXPECT_EQ(edit_distance("dampng", "damping"), 1u);
  EXPECT_EQ(edit_distance("dampinng", "damping"), 1u);
  EXPECT_EQ(edit_distance("danping", "damping"), 1u);
  EXPECT_EQ(edit_distance("dmaping", "damping"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

RC_GTEST_PROP(EditDistance, IsSymmetricAndZeroOnlyForEqualTexts,
              (const std::string& a, const std::string& b)) {
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
  RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
}

TEST(NearestName, NamesTheNearestOrNothing) {
  const std::vector<std::string> names{"pagerank", "hits", "rwr"};
  EXPECT_EQ(nearest_name("pagernk", names), "pagerank");
  EXPECT_EQ(nearest_name("page", names), "pagerank");
  EXPECT_EQ(nearest_name("rw", names), "rwr");
  EXPECT_EQ(nearest_name("xyzzy", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(did_you_mean("hist", names), "; did you mean hits?");
}

TEST(NearestName, ShortNamesAreNearByOneLetterAlone) {
  const std::vector<std::string> names{"top", "out", "quiet", "--top", "--norm"};
  EXPECT_EQ(nearest_name("tpo", names), "top");
  EXPECT_EQ(nearest_name("foo", names), "");
  EXPECT_EQ(nearest_name("cat", names), "");
  EXPECT_EQ(nearest_name("quart", names), "");
  EXPECT_EQ(nearest_name("--tip", names), "--top");
  EXPECT_EQ(nearest_name("--foo", names), "");
}

}  // namespace
}  // namespace tessera::cli
