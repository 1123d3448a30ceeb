#include "tools/output_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/base/error.hpp"

namespace tessera::cli {
namespace {

void expect_refused(const OutputPaths& outputs, const std::string& complaint) {
  try {
    check_distinct_outputs(outputs);
    ADD_FAILURE() << complaint;
  } catch (const OptionError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(complaint));
  }
}

TEST(DistinctOutputs, TwoOfThemAreNoOneFile) {
  EXPECT_NO_THROW(
      check_distinct_outputs({{"--output", "x"}, {"--report", "y"}, {"--plot", ""}, {"--other", ""}}));
  EXPECT_NO_THROW(check_distinct_outputs({{"--output", "-"}, {"--report", "y"}}));
  expect_refused({{"--output", "x"}, {"--plot", "y"}, {"--report", "x"}},
                 "--output and --report are the same file \"x\"");
  expect_refused({{"--output", "-"}, {"--report", "-"}}, "--output and --report both go to standard output");
}

TEST(WritableOutputs, OnlyFilesAreLookedAt) {
  EXPECT_NO_THROW(check_writable_outputs({{"--output", "-"}, {"--report", ""}}));
  EXPECT_THROW(check_writable_outputs({{"--output", "no such folder/x"}}), ResourceError);
}

}  // namespace
}  // namespace tessera::cli
