// What the first line of a KONECT file says.
#include "engine/io/konect_header.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::Contains;
using testing::HasSubstr;

TextFormat format_of(std::string_view line, std::size_t columns, const GraphOptions& options = {}) {
  TextFormat format;
  apply_konect_header(line, columns, options, format);
  return format;
}

GraphOptions asking(bool GraphOptions::*what) {
  GraphOptions options;
  options.*what = true;
  return options;
}

TEST(KonectHeader, IsToldFromOtherComments) {
  for (const char* line : {"% asym unweighted", "%\tsym positive", "% bip weighted\r", "% asym dynamic 3"})
    EXPECT_TRUE(is_konect_header(line)) << line;
  for (const char* line : {"%asym positive", "# asym positive", "% asym", "% asymmetric positive",
                           "% asym heavy", "asym positive", "", "%"})
    EXPECT_FALSE(is_konect_header(line)) << line;
}

TEST(KonectHeader, SaysDirection) {
  EXPECT_TRUE(format_of("% sym unweighted", 2).undirected);
  EXPECT_FALSE(format_of("% asym unweighted", 2).undirected);
  EXPECT_TRUE(format_of("% asym unweighted", 2, asking(&GraphOptions::undirected)).undirected);
  EXPECT_FALSE(format_of("% sym unweighted", 2, asking(&GraphOptions::directed)).undirected);
  const TextFormat bipartite = format_of("% bip unweighted", 2);
  EXPECT_TRUE(bipartite.bipartite);
  EXPECT_FALSE(bipartite.undirected);
  EXPECT_THAT(bipartite.notes, Contains(HasSubstr("prefix L or R")));
}

TEST(KonectHeader, SaysWeights) {
  for (const char* kind : {"positive", "posweighted", "signed", "weighted", "multiweighted"}) {
    const std::string line = std::string("% asym ") + kind;
    EXPECT_TRUE(format_of(line, 3).weighted) << kind;
    EXPECT_FALSE(format_of(line, 3, asking(&GraphOptions::unweighted)).weighted) << kind;
    EXPECT_FALSE(format_of(line, 2).weighted) << kind;
    EXPECT_THAT(format_of(line, 2).notes, Contains(HasSubstr("no column of weights"))) << kind;
  }
  EXPECT_FALSE(format_of("% asym unweighted", 3).weighted);
  EXPECT_FALSE(format_of("% asym dynamic", 4).weighted);
}

TEST(KonectHeader, NotesWhatIsPeculiar) {
  EXPECT_THAT(format_of("% asym multisigned", 3).notes, Contains(HasSubstr("--duplicates")));
  EXPECT_THAT(format_of("% asym dynamic", 4).notes, Contains(HasSubstr("remove an edge")));
  EXPECT_THAT(format_of("% asym dynamic", 4).notes, Contains(HasSubstr("times")));
  EXPECT_EQ(format_of("% asym unweighted", 2).notes.size(), 1u);
}

}  // namespace
}  // namespace tessera
