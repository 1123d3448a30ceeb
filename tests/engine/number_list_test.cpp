#include "engine/io/number_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "kernels/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class NumberList : public testing::Test {
 protected:
  std::vector<double> read(const std::string& text, std::uint64_t size) {
    const std::string path = folder_.file("b.txt");
    std::ofstream(path, std::ios::binary) << text;
    return read_numbers(path, size);
  }
  void expect_refused(const std::string& text, std::uint64_t size, const std::string& complaint) {
    try {
      read(text, size);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(complaint)) << text;
    }
  }
  TemporaryFolder folder_;
};

TEST_F(NumberList, IsOneNumberALine) {
  EXPECT_THAT(read("1\n-2.5e-3\n\n# comment\n  +4 \r\n% more\n0.1", 4), ElementsAre(1, -2.5e-3, 4, 0.1));
  EXPECT_THAT(read("", 0), ElementsAre());
}

TEST_F(NumberList, OrAMatrixMarketArray) {
  EXPECT_THAT(read("%%MatrixMarket matrix array real general\n% of one column\n3 1\n1\n2\n3\n", 3),
              ElementsAre(1, 2, 3));
  expect_refused("%%MatrixMarket matrix array real general\n2 1\n1\n2\n", 3,
                 "b.txt:2: expected the size line \"3 1\"");
  expect_refused("%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n", 3,
                 "a column of 3 numbers");
  expect_refused("%%MatrixMarket matrix coordinate real general\n3 1 1\n1 1 5\n", 3,
                 "b.txt:1: expected \"array\"");
}

TEST_F(NumberList, WhatIsNoNumberIsNamedWithItsLine) {
  expect_refused("1\nx\n", 2, "b.txt:2: expected a number, found \"x\"");
  expect_refused("1\n2 3\n", 2, "b.txt:2: expected a number, found \"2 3\"");
  for (const char* bad : {"nan", "inf", "0x1", "1,5", "1e999"})
    expect_refused(bad, 1, "b.txt:1: expected a number");
  expect_refused("1\n2\n", 3, "expected 3 numbers, one for each row of the matrix, found 2");
  expect_refused("1\n2\n", 1, "expected 1 numbers, one for each row of the matrix, found 2");
}

TEST_F(NumberList, ComesBackWithTheSameBits) {
  const std::vector<double> numbers = {0, -0.0, 1.0 / 3, 1e-300, -1.7976931348623157e308, 123456789.125};
  write_numbers(folder_.file("x.txt"), numbers);
  EXPECT_EQ(read_numbers(folder_.file("x.txt"), numbers.size()), numbers);
}

}  // namespace
}  // namespace tessera::test
