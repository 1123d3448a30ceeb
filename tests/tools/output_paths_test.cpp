#include "tools/output_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kernels/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::cli {
namespace {

void expect_refused(const NamedPaths& outputs, const std::string& complaint) {
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
  expect_refused({{"--output", "x.npy"}, {"--report", "x.npy.labels.txt"}},
                 "--report and the labels of --output are the same file \"x.npy.labels.txt\"");
  expect_refused({{"--output", "-"}, {"--report", "-"}}, "--output and --report both go to standard output");
}

TEST(DistinctOutputs, ByWhateverPathTheyGoThere) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("scores.csv"), around = folder.file("./scores.csv");
  const auto refuse = [&](const std::string& other) {
    expect_refused({{"--output", file}, {"--report", other}}, "--output and --report are the same file");
  };
  refuse(around);  // of a file that is not there yet
  expect_refused({{"--output", "scores.csv"}, {"--report", "./scores.csv"}}, "are the same file");
  std::ofstream(file) << "old\n";
  refuse(around);
  std::filesystem::create_symlink(file, folder.file("link.json"));
  refuse(folder.file("link.json"));
  EXPECT_NO_THROW(check_distinct_outputs({{"--output", file}, {"--report", folder.file("scores.json")}}));
}

TEST(DistinctOutputs, InFoldersThatCannotBeSearchedAreToldByTheirNames) {
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink("round", folder.file("round"));
  const std::string file = folder.file("round/x.npy");
  EXPECT_NO_THROW(check_distinct_outputs({{"--output", file}, {"--report", folder.file("round/y.json")}}));
  expect_refused({{"--output", file}, {"--report", folder.file("round/./x.npy")}}, "are the same file");
}

TEST(InputsAreKept, ByWhateverPathAnOutputGoesThere) {
  const test::TemporaryFolder folder;
  const std::string links = folder.file("links.txt"), around = folder.file("./links.txt");
  std::ofstream(links) << "a b\n";
  const auto check = [&](const std::string& input, const std::string& output) {
    check_inputs_are_kept({{"GRAPH", "-"}, {"--warm-start", ""}, {"--personalization", input}},
                          {{"--output", output}, {"--report", ""}});
  };
  EXPECT_NO_THROW(check(links, folder.file("scores.tsv")));
  EXPECT_NO_THROW(check("-", "-"));
  for (const std::string& path : {links, around}) {
    try {
      check(links, path);
      ADD_FAILURE() << path;
    } catch (const OptionError& error) {
      EXPECT_EQ(error.what(),
                "--personalization and --output are the same file \"" + path + "\", which would be replaced");
    }
  }
}

TEST(WritableOutputs, OnlyFilesAreLookedAt) {
  const auto comm = make_single_rank();
  EXPECT_NO_THROW(check_writable_outputs({{"--output", "-"}, {"--report", ""}}, *comm));
  EXPECT_THROW(check_writable_outputs({{"--output", "no such folder/x"}}, *comm), ResourceError);
}

}  // namespace
}  // namespace tessera::cli
