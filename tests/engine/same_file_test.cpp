// Ranks with copies of a file that differ: as on machines of which one has an older edition.
#include "engine/io/same_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/input_files.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

/// How many of three ranks refuse, where the last one has a file of its own.
int ranks_that_refuse(const std::string& bytes, const std::string& bytes_of_last) {
  const InputText common(bytes), own(bytes_of_last);
  std::atomic<int> errors = 0;
  run_ranks(3, [&](Communicator& comm) {
    const InputFile file((comm.rank() == 2 ? own : common).path());
    try {
      check_same_file(file, comm);
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("graph.txt: not the same file on every machine of the run"));
      ++errors;
    }
  });
  return errors;
}

TEST(SameFile, EveryByteOfASmallFileCounts) {
  const std::string bytes(1000, 'x');
  EXPECT_EQ(ranks_that_refuse(bytes, bytes), 0);
  EXPECT_EQ(ranks_that_refuse("", ""), 0);
  EXPECT_EQ(ranks_that_refuse(bytes, bytes + "x"), 3);
  EXPECT_EQ(ranks_that_refuse(bytes, ""), 3);
  for (const std::size_t at : {0, 500, 999}) {
    std::string changed = bytes;
    changed[at] = 'y';
    EXPECT_EQ(ranks_that_refuse(bytes, changed), 3) << at;
  }
}

TEST(SameFile, BothEndsAndStretchesBetweenThemCountInALargeOne) {
  const std::string bytes(8 << 20, 'x');
  EXPECT_EQ(ranks_that_refuse(bytes, bytes), 0);
  EXPECT_EQ(ranks_that_refuse(bytes, bytes + "x"), 3);
  for (const std::size_t at : {std::size_t{0}, std::size_t{50000}, bytes.size() - 50000, bytes.size() - 1}) {
    std::string changed = bytes;
    changed[at] = 'y';
    EXPECT_EQ(ranks_that_refuse(bytes, changed), 3) << at;
  }
  for (std::size_t at = 1 << 16; at + (1 << 18) < bytes.size(); at += 1 << 20) {
    std::string changed = bytes;
    changed.replace(at, 1 << 17, 1 << 17, 'y');  // longer than a sample and the way to the next one
    EXPECT_EQ(ranks_that_refuse(bytes, changed), 3) << at;
  }
}

TEST(SameFile, TextsOfOneSizeAreNotMixed) {
  const InputText common("1 2\n3 4\n5 6\n"), own("1 2\n3 4\n7 8\n");
  std::atomic<int> errors = 0;
  run_ranks(2, [&](Communicator& comm) {
    GraphOptions options;
    options.path = (comm.rank() == 1 ? own : common).path();
    try {
      read_edges(options, comm);
    } catch (const InputError& error) {
      errors += std::string(error.what()).find("not the same file on every machine") != std::string::npos;
    }
  });
  EXPECT_EQ(errors, 2);
}

}  // namespace
}  // namespace tessera::test
