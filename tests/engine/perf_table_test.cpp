#include "engine/perf_table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "kernels/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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

/// Sets a variable of the environment, or unsets it, until the end of the scope.
class Environment {
 public:
  Environment(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Environment() { set(old_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    if (value)
      setenv(name_, value->c_str(), 1);
    else
      unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> old_;
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

TEST(PerfTable, EveryMeasuredShapeIsFoundAgain) {
  PerfTable table;
  for (std::uint32_t width = 1; width <= 1u << 16; width *= 2)
    for (std::uint32_t height = 1; height <= 1u << 16; height *= 2)
      table.entries.push_back({width, height, 0.1 + width * 1e-5 + height * 1e-3});
  table.prepare();
  for (const auto& entry : table.entries)
    EXPECT_DOUBLE_EQ(table.elements_per_second(entry.width, entry.height), 1e9 / entry.ns_per_element)
        << entry.width << " x " << entry.height;
}

TEST(PerfTable, RowsOfOneElementHaveATimeOfTheirOwn) {
  PerfTable table = small_table();
  table.entries = {{1, 1024, 4.0}, {2, 1024, 2.0}, {4096, 1, 1.0}, {4096, 2, 0.5}};
  table.prepare();
  EXPECT_DOUBLE_EQ(table.elements_per_second(1, 1024), 0.25e9);
  EXPECT_DOUBLE_EQ(table.elements_per_second(2, 1024), 0.5e9);
  EXPECT_DOUBLE_EQ(table.elements_per_second(4096, 1), 1e9);
  EXPECT_DOUBLE_EQ(table.elements_per_second(4096, 2), 2e9);
}

TEST(PerfTable, ShapesPastTheTableAreAnsweredToo) {
  const PerfTable table = small_table();
  constexpr std::uint32_t kLargest = ~std::uint32_t{0};
  EXPECT_DOUBLE_EQ(table.elements_per_second(kLargest, 1), 8e9);
  EXPECT_DOUBLE_EQ(table.elements_per_second(1, kLargest), 0.5e9);
  EXPECT_GT(table.elements_per_second(kLargest, kLargest), 0);
}

TEST(PerfTable, CsrTimesAreInterpolatedByTheLogarithmOfX) {
  const PerfTable table = small_table();
  EXPECT_DOUBLE_EQ(table.csr_ns_per_element(10), 0.5);
  EXPECT_DOUBLE_EQ(table.csr_ns_per_element(2048), 1.0);
  EXPECT_DOUBLE_EQ(table.csr_ns_per_element(1e12), 1.5);
  double last = 0;
  for (double bytes = 0; bytes < 8192; bytes += 37) {  // rising entries: no step down between them
    EXPECT_GE(table.csr_ns_per_element(bytes), last);
    last = table.csr_ns_per_element(bytes);
  }
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

void expect_refused(const std::string& text, const std::string& complaint) {
  try {
    perf_table_from_json(text, "t.json");
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), StartsWith("t.json: "));
    EXPECT_THAT(error.what(), HasSubstr(complaint));
    EXPECT_THAT(error.what(), EndsWith("run `tessera tune` again, or delete it"));
    EXPECT_THAT(error.what(), Not(HasSubstr("json.exception")));
  }
}

TEST(PerfTable, ABadFileIsNamedWithTheRemedy) {
  const std::string good = perf_table_to_json(small_table());
  for (std::size_t size = 0; size + 2 < good.size(); size += 7)  // the last brace and line end apart
    expect_refused(good.substr(0, size), "not a performance table");
  for (const char* text : {"[]", "7", "null", "{}", "\xff\xfe", "{\"format\": 1}"})
    expect_refused(text, "not a performance table");
}

TEST(PerfTable, ABadEntryIsQuotedWithWhatWasExpected) {
  const std::string good = perf_table_to_json(small_table());
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  expect_refused(broken("tessera-perf-table", "other"), "of this version");
  expect_refused(broken("\"version\": 1", "\"version\": 2"), "of this version");
  for (const char* key : {"format", "version", "machine", "measured_on", "csr_ns_per_row", "shapes", "csr",
                          "width", "height", "ns_per_element", "x_bytes"})
    expect_refused(broken(fmt::format("\"{}\"", key), "\"missing\""), key);
  const auto refuses = [&](const std::string& key, const std::string& value, const std::string& bad) {
    expect_refused(broken(fmt::format("\"{}\": {}", key, value), fmt::format("\"{}\": {}", key, bad)),
                   fmt::format("\"{}\" is {}, expected ", key, bad));
  };
  for (const char* bad : {"0", "-1", "2.5", "4294967296", "1000.0", "\"8\"", "null", "[8]"})
    refuses("width", "8", bad);
  for (const char* bad : {"0", "-1024", "true"}) refuses("x_bytes", "1024", bad);
  for (const char* bad : {"0", "0.0", "-0.25", "\"x\"", "null"}) refuses("ns_per_element", "0.25", bad);
  refuses("csr_ns_per_row", "3.0", "-3.0");
  expect_refused(broken("\"ns_per_element\": 0.25", "\"ns_per_element\": 1e999"), "1e999");
  expect_refused(broken("\"x_bytes\": 1024", "\"x_bytes\": 18446744073709551616"), "x_bytes");
}

TEST(PerfTable, ATableThatCannotAnswerIsRefused) {
  PerfTable table = small_table();
  table.csr = {{4096, 1.5}, {1024, 0.5}};
  expect_refused(perf_table_to_json(table), "1024 follows 4096, expected rising sizes");
  table.csr = {{1024, 0.5}, {1024, 0.5}};
  expect_refused(perf_table_to_json(table), "rising");
  table = small_table();
  std::erase_if(table.entries, [](const auto& e) { return e.width > e.height; });
  expect_refused(perf_table_to_json(table), "wider than high");
  table = small_table();
  std::erase_if(table.entries, [](const auto& e) { return e.width <= e.height; });
  expect_refused(perf_table_to_json(table), "wider than high");
  table.entries.clear();
  expect_refused(perf_table_to_json(table), "shapes");
}

TEST(PerfTable, TheDefaultIsMeasuredAndFaithfulToItsKind) {
  const PerfTable& table = default_perf_table();
  EXPECT_GT(table.entries.size(), 20u);
  EXPECT_FALSE(table.measured_on.empty());
  // Rows of one element cost more an element than long ones: what workload sizes are chosen from.
  EXPECT_LT(table.elements_per_second(1, 4096), table.elements_per_second(256, 32));
  EXPECT_LT(table.csr_ns_per_element(1 << 14), table.csr_ns_per_element(1 << 28));
}

TEST(PerfTablePath, FollowsTheRulesOfCacheFolders) {
  const std::string file = "/tessera/cpu-" + processor_name() + ".table.json";
  const Environment home("HOME", "/home/somebody");
  for (const auto& [cache, folder] : std::vector<std::pair<std::optional<std::string>, std::string>>{
           {"/elsewhere", "/elsewhere"},
           {"", "/home/somebody/.cache"},          // set to nothing is not set
           {"relative", "/home/somebody/.cache"},  // only absolute paths count
           {std::nullopt, "/home/somebody/.cache"}}) {
    const Environment xdg("XDG_CACHE_HOME", cache);
    EXPECT_EQ(perf_table_path(), folder + file);
  }
}

TEST(PerfTablePath, WithoutAFolderIsAnErrorButTheDefaultStillLoads) {
  for (const std::optional<std::string>& nothing :
       {std::optional<std::string>(), std::optional<std::string>("")}) {
    const Environment xdg("XDG_CACHE_HOME", nothing), home("HOME", nothing);
    EXPECT_THROW(perf_table_path(), ResourceError);
    EXPECT_EQ(load_perf_table(*make_single_rank()).machine, default_perf_table().machine);
  }
}

TEST(ProcessorName, IsSafeInAFileName) {
  const std::string name = processor_name();
  EXPECT_FALSE(name.empty());
  for (const char c : name) EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') << name;
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
  std::ofstream(perf_table_path()) << "";
  EXPECT_THROW(machine_on_ranks(), InputError);
}

}  // namespace
}  // namespace tessera::test
