#include "engine/perf_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernels/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

PerfTable small_table() {
  PerfTable table;
  table.machine = "test";
  table.measured_on = "2026-11-21";
  table.entries = {{1, 1024, 2.0}, {8, 128, 0.5}, {64, 8, 0.25}, {1024, 1, 0.125}};
  table.csr = {{1024, 0.5}, {4096, 1.5}};
  table.csr_ns_per_row = 3;
  table.prepare();
  return table;
}

/// The environment as it was, at the end of the scope.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { setenv(name_, old_.c_str(), 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string old_;
};

TEST(PerfTable, TakesTheNearestShapeOfTheSameLayout) {
  const PerfTable table = small_table();
  EXPECT_DOUBLE_EQ(table.elements_per_second(1, 1024), 0.5e9);
  EXPECT_DOUBLE_EQ(table.elements_per_second(7, 150), 2e9);
  EXPECT_DOUBLE_EQ(table.elements_per_second(70, 9), 4e9);
  EXPECT_DOUBLE_EQ(table.elements_per_second(5000, 1), 8e9);
  // 24 x 24 is column-major: never taken from the row-major (64, 8), although that is as near.
  EXPECT_DOUBLE_EQ(table.elements_per_second(24, 24), 2e9);
  EXPECT_DOUBLE_EQ(table.elements_per_second(25, 24), 4e9);
}

TEST(PerfTable, CsrTimesAreInterpolatedByTheLogarithmOfX) {
  const PerfTable table = small_table();
  EXPECT_DOUBLE_EQ(table.csr_ns_per_element(10), 0.5);
  EXPECT_DOUBLE_EQ(table.csr_ns_per_element(2048), 1.0);
  EXPECT_DOUBLE_EQ(table.csr_ns_per_element(1e12), 1.5);
}

TEST(PerfTable, ComesBackFromJson) {
  const PerfTable table = small_table();
  const PerfTable back = perf_table_from_json(perf_table_to_json(table), "t.json");
  EXPECT_EQ(back.machine, table.machine);
  EXPECT_EQ(back.measured_on, table.measured_on);
  EXPECT_EQ(back.csr_ns_per_row, table.csr_ns_per_row);
  ASSERT_EQ(back.entries.size(), table.entries.size());
  ASSERT_EQ(back.csr.size(), table.csr.size());
  for (const auto& [w, h] : {std::pair(3u, 90u), std::pair(300u, 2u)})
    EXPECT_EQ(back.elements_per_second(w, h), table.elements_per_second(w, h));
}

TEST(PerfTable, ABadFileIsNamedWithTheRemedy) {
  const std::string good = perf_table_to_json(small_table());
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{"), good.substr(0, good.size() / 2),
        broken("tessera-perf-table", "other"), broken("\"version\": 1", "\"version\": 2"),
        broken("\"shapes\"", "\"forms\""), broken("1024", "0"), broken("0.5", "-0.5"),
        broken("0.5", "\"x\"")})
    try {
      perf_table_from_json(text, "t.json");
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("t.json: "));
    }
}

TEST(PerfTable, TheDefaultIsMeasuredAndFaithfulToItsKind) {
  const PerfTable& table = default_perf_table();
  EXPECT_GT(table.entries.size(), 20u);
  EXPECT_FALSE(table.measured_on.empty());
  // Rows of one element cost more an element than long ones: what workload sizes are chosen from.
  EXPECT_LT(table.elements_per_second(1, 4096), table.elements_per_second(256, 32));
  EXPECT_LT(table.csr_ns_per_element(1 << 14), table.csr_ns_per_element(1 << 28));
}

TEST(LoadPerfTable, TakesTheUsersTableOfRankZeroElseTheDefault) {
  const TemporaryFolder folder;
  const Environment cache("XDG_CACHE_HOME", folder.file(""));
  EXPECT_THAT(perf_table_path(), HasSubstr(processor_name()));
  const auto machine_on_ranks = [] {
    std::vector<std::string> machines(3);
    run_ranks(3, [&](Communicator& comm) { machines[comm.rank()] = load_perf_table(comm).machine; });
    EXPECT_EQ(machines[1], machines[0]);
    EXPECT_EQ(machines[2], machines[0]);
    return machines[0];
  };
  EXPECT_EQ(machine_on_ranks(), default_perf_table().machine);
  std::filesystem::create_directories(std::filesystem::path(perf_table_path()).parent_path());
  std::ofstream(perf_table_path()) << perf_table_to_json(small_table());
  EXPECT_EQ(machine_on_ranks(), "test");
  std::ofstream(perf_table_path()) << "{";
  EXPECT_THROW(machine_on_ranks(), InputError);
}

}  // namespace
}  // namespace tessera::test
