// Limits of control groups, from files as the kernel writes them.
#include "tools/cgroup_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/support/temporary_folder.hpp"

namespace tessera::test {
namespace {

using cli::cgroup_available_bytes;
constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max(), kOwn = 100;

/// A folder that stands for the root of a machine.
class CgroupMemory : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root() + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text << '\n';
  }
  std::string root() const { return folder_.file("root"); }
  std::uint64_t available() const { return cgroup_available_bytes(root(), kOwn); }

 private:
  TemporaryFolder folder_;
};

TEST_F(CgroupMemory, WithoutGroupsHasNoLimit) {
  EXPECT_EQ(available(), kUnlimited);
  write("/proc/self/cgroup", "0::/a");
  write("/sys/fs/cgroup/a/memory.max", "max");
  write("/sys/fs/cgroup/a/memory.current", "500");
  EXPECT_EQ(available(), kUnlimited);
}

TEST_F(CgroupMemory, CountsWhatOthersHoldButNotPageCache) {
  write("/proc/self/cgroup", "1:name=x:/y\n0::/a/b");
  write("/sys/fs/cgroup/a/b/memory.max", "1000");
  write("/sys/fs/cgroup/a/b/memory.current", "900");
  EXPECT_EQ(available(), 1000 - kOwn);  // nobody says what is cache
  write("/sys/fs/cgroup/a/b/memory.stat", "anon 600\nfile 300\nactive_file 50\ninactive_file 200");
  EXPECT_EQ(available(), 1000u - (900 - 250));
  write("/sys/fs/cgroup/a/b/memory.current", "1300");  // the limit was lowered meanwhile
  EXPECT_EQ(available(), 0u);
}

TEST_F(CgroupMemory, TakesTheTightestOfTheGroupsAround) {
  write("/proc/self/cgroup", "0::/job/step/task");
  write("/sys/fs/cgroup/job/step/task/memory.max", "5000");
  write("/sys/fs/cgroup/job/step/task/memory.current", "400");
  write("/sys/fs/cgroup/job/step/memory.max", "max");
  write("/sys/fs/cgroup/job/step/memory.current", "400");
  write("/sys/fs/cgroup/job/memory.max", "1000");
  write("/sys/fs/cgroup/job/memory.current", "900");  // other steps hold some of it
  write("/sys/fs/cgroup/job/memory.stat", "inactive_file 100");
  EXPECT_EQ(available(), 200u);
  write("/sys/fs/cgroup/memory.max", "950");
  write("/sys/fs/cgroup/memory.current", "920");
  write("/sys/fs/cgroup/memory.stat", "inactive_file 0");
  EXPECT_EQ(available(), 30u);
}

TEST_F(CgroupMemory, TakesTheMountWhereContainersHaveTheirGroup) {
  write("/proc/self/cgroup", "0::/not/here");
  write("/sys/fs/cgroup/memory.max", "1000");
  write("/sys/fs/cgroup/memory.current", "300");
  write("/sys/fs/cgroup/memory.stat", "inactive_file 100");
  EXPECT_EQ(available(), 800u);
}

TEST_F(CgroupMemory, OfTheFirstVersionTakesTotals) {
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1000");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "700");
  write("/sys/fs/cgroup/memory/memory.stat",
        "active_file 1\ninactive_file 2\ntotal_active_file 100\ntotal_inactive_file 200");
  EXPECT_EQ(available(), 600u);
}

}  // namespace
}  // namespace tessera::test
