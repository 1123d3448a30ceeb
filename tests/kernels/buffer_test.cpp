#include "kernels/base/buffer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "kernels/backend.hpp"
#include "kernels/base/error.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

Buffer<int> counting(std::size_t size) {
  Buffer<int> buffer(size);
  std::iota(buffer.begin(), buffer.end(), 0);
  return buffer;
}

TEST(Buffer, LinesAndHugePagesAreNotShared) {
  for (const std::size_t size : {1, 63, 64, 65, 4097})
    EXPECT_EQ(address(Buffer<char>(size).data()) % 64, 0u) << size;
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  EXPECT_EQ(address(Buffer<char>(4 * kHugePage).data()) % kHugePage, 0u);
  EXPECT_EQ(address(Buffer<char>(4 * kHugePage + 1).data()) % kHugePage, 0u);
}

TEST(Buffer, EveryElementCanBeWritten) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, (std::size_t{2} << 20) + 3}) {
    const Buffer<int> buffer = counting(size);
    EXPECT_EQ(buffer.size_bytes(), 4 * size);
    EXPECT_EQ(buffer[size - 1], static_cast<int>(size - 1));
    EXPECT_EQ(std::accumulate(buffer.begin(), buffer.end(), std::int64_t{0}),
              static_cast<std::int64_t>(size * (size - 1) / 2));
  }
}

TEST(Buffer, OfNothingIsEmpty) {
  for (const Buffer<double>& empty : {Buffer<double>(), Buffer<double>(0)}) {
    EXPECT_TRUE(empty.empty());
    EXPECT_EQ(empty.data(), nullptr);
    EXPECT_EQ(empty.begin(), empty.end());
    EXPECT_TRUE(empty.span().empty());
    EXPECT_TRUE(empty.clone().empty());
  }
}

TEST(Buffer, MovingLeavesTheSourceEmpty) {
  Buffer<int> first = counting(10);
  const int* data = first.data();
  Buffer<int> second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_TRUE(first.empty());  // NOLINT: the promise under test
  EXPECT_EQ(first.data(), nullptr);
  Buffer<int> third = counting(3);
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_TRUE(second.empty());  // NOLINT
  Buffer<int>& same = third;
  third = std::move(same);
  ASSERT_EQ(third.size(), 10u);
  EXPECT_EQ(third[9], 9);
}

TEST(Buffer, ACopyIsItsOwn) {
  Buffer<int> original = counting(5);
  Buffer<int> copy = original.clone();
  original[2] = 77;
  EXPECT_EQ(copy[2], 2);
  EXPECT_EQ(copy.size(), 5u);
}

TEST(Buffer, TruncatingNeverGrows) {
  Buffer<int> buffer = counting(8);
  buffer.truncate(9);
  EXPECT_EQ(buffer.size(), 8u);
  buffer.truncate(3);
  EXPECT_EQ(buffer.size(), 3u);
  EXPECT_EQ(buffer.span().back(), 2);
  buffer.truncate(5);
  EXPECT_EQ(buffer.size(), 3u);
  buffer.truncate(0);
  EXPECT_TRUE(buffer.empty());
}

TEST(Buffer, AWindowKeepsItsOwnerAlive) {
  auto owner = std::make_shared<std::vector<int>>(std::vector<int>{1, 2, 3, 4});
  const std::weak_ptr<std::vector<int>> watch = owner;
  int* inside = owner->data() + 1;
  Buffer<int> window(std::move(owner), inside, 2);
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(window[1], 3);
  Buffer<int> moved = std::move(window);
  EXPECT_FALSE(watch.expired());
  moved = {};
  EXPECT_TRUE(watch.expired());
}

/// The message of the ResourceError that `allocate` must throw.
template <class Allocate>
std::string refusal(const Allocate& allocate) {
  try {
    allocate();
  } catch (const ResourceError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Buffer, SizesThatWrapAroundAreRefused) {
  for (const std::size_t size : {std::size_t{1} << 61, (std::size_t{1} << 61) + 1, ~std::size_t{0}}) {
    EXPECT_THAT(refusal([&] { Buffer<double> buffer(size); }), HasSubstr("64 bits")) << size;
    EXPECT_THAT(refusal([&] { make_backend<float>("cpu")->allocate<double>(size); }), HasSubstr("64 bits"));
  }
  EXPECT_THAT(refusal([] { allocate_host(~std::size_t{0}); }), HasSubstr("18446744073709551615 bytes"));
}

TEST(Buffer, MemoryThatIsNotThereIsAnErrorWithTheNumberOfBytes) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer ends the program instead";
#endif
  EXPECT_THAT(refusal([] { Buffer<std::uint64_t> buffer(std::size_t{1} << 50); }),
              HasSubstr("9007199254740992 bytes"));
}

}  // namespace
}  // namespace tessera::test
