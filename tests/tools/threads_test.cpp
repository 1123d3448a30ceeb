#include "tools/threads.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tessera::cli {
namespace {

std::string setting(long cores, double load) {
  const auto found = wait_setting(cores, load);
  return found ? std::string(found->name) + "=" + found->value : "";
}

TEST(WaitSetting, ThreadsSleepOnBusyMachinesAndSpinShortlyOnManyCores) {
  EXPECT_EQ(setting(2, 0.9), "");
  EXPECT_EQ(setting(2, 1), "OMP_WAIT_POLICY=passive");
  EXPECT_EQ(setting(15, 7), "");
  EXPECT_EQ(setting(16, 0), "GOMP_SPINCOUNT=1000");
  EXPECT_EQ(setting(64, 31.9), "GOMP_SPINCOUNT=1000");
  EXPECT_EQ(setting(64, 32), "OMP_WAIT_POLICY=passive");
}

}  // namespace
}  // namespace tessera::cli
