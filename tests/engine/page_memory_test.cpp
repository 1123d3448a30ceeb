#include "engine/page_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace tessera {
namespace {

TEST(PageMemory, IsZeroAndKeepsWhatIsNotReleased) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  PageMemory memory(4 * page);
  auto* bytes = static_cast<unsigned char*>(memory.data());
  EXPECT_TRUE(std::all_of(bytes, bytes + 4 * page, [](unsigned char byte) { return byte == 0; }));
  std::memset(bytes, 7, 4 * page);
  release_pages(bytes + 1, 3 * page - 2);  // whole pages: the second alone
  for (std::size_t i = 0; i < 4 * page; ++i) ASSERT_EQ(bytes[i], i / page == 1 ? 0 : 7) << i;
  release_pages(bytes + 3 * page + 1, page - 2);  // none
  EXPECT_EQ(bytes[3 * page + 1], 7);
}

TEST(PageMemory, VectorsOfZerosAreThat) {
  for (const std::uint64_t size : {0, 1, 1000, 5'000'011}) {  // the last: several pieces, cut anywhere
    std::vector<double> dirty(size, 1.0);
    std::vector<double>().swap(dirty);  // memory that has been used may come again
    const std::vector<double> zeros = zeros_in_found_pages(size);
    EXPECT_EQ(zeros.size(), size);
    EXPECT_TRUE(std::all_of(zeros.begin(), zeros.end(), [](double zero) { return zero == 0; })) << size;
  }
}

}  // namespace
}  // namespace tessera
