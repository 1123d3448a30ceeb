#include "kernels/base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "kernels/base/types.hpp"

namespace tessera::test {
namespace {

template <class Thrown>
ErrorCategory category_when_caught() {
  try {
    throw Thrown("links.txt:17: expected two labels");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "links.txt:17: expected two labels");
    return error.category();
  }
}

TEST(Error, EachTypeCarriesItsCategory) {
  EXPECT_EQ(category_when_caught<InputError>(), ErrorCategory::input);
  EXPECT_EQ(category_when_caught<OptionError>(), ErrorCategory::usage);
  EXPECT_EQ(category_when_caught<ResourceError>(), ErrorCategory::resource);
  EXPECT_EQ(category_when_caught<InternalError>(), ErrorCategory::internal);
}

TEST(Error, CategoriesAreTheExitCodesOfTheDocumentation) {
  EXPECT_EQ(static_cast<int>(ErrorCategory::internal), 1);
  EXPECT_EQ(static_cast<int>(ErrorCategory::usage), 2);
  EXPECT_EQ(static_cast<int>(ErrorCategory::input), 4);
  EXPECT_EQ(static_cast<int>(ErrorCategory::resource), 5);
  EXPECT_EQ(static_cast<int>(ErrorCategory::interrupted), 130);
}

TEST(Error, RequireThrowsOnlyWhenTheConditionIsFalse) {
  EXPECT_NO_THROW(require(true, "never"));
  try {
    require(false, "x is shorter than the matrix is wide");
    FAIL() << "no error";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "x is shorter than the matrix is wide");
  }
}

TEST(SystemErrorText, IsTheTextOfErrno) {
  EXPECT_EQ(system_error_text(ENOENT), "No such file or directory");
  EXPECT_EQ(system_error_text(ENOSPC), "No space left on device");
  errno = EACCES;
  system_error_text(ENOENT);
  EXPECT_EQ(errno, EACCES);
}

TEST(RoundUp, GoesToTheNextMultiplePast32BitsToo) {
  constexpr std::uint64_t kTwo32 = std::uint64_t{1} << 32;
  EXPECT_EQ(round_up<std::uint64_t>(0, 8), 0u);
  EXPECT_EQ(round_up<std::uint64_t>(8, 8), 8u);
  EXPECT_EQ(round_up<std::uint64_t>(9, 8), 16u);
  EXPECT_EQ(round_up<std::uint64_t>(kTwo32 - 1, 32), kTwo32);
  EXPECT_EQ(ceil_div<std::uint64_t>(kTwo32 + 1, 2), (kTwo32 >> 1) + 1);
}

}  // namespace
}  // namespace tessera::test
