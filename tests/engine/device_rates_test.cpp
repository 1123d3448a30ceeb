#include "engine/device_rates.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/base/error.hpp"
#include "kernels/devices.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

DeviceRates some_rates() {
  DeviceRates rates;
  rates.device = "GPU of a test";
  rates.measured_on = "2026-11-21";
  rates.tiles = {5e-6, 1e-7, 0.7e-12, 0.9e-12, 0.4e-12, 30e-9, 0.5e-12, 0.2e-12, 150e-12};
  rates.bins = {5e-6, 0.25e-12, 1e-12, 0};
  rates.csr = {8e-6, 1e-7, 2e-7, 3e-7, 1e-12, 2e-12, 7e-12, 18e-12, 0.125e-12};
  rates.block = {7e-6, 9e-6, 3e-12, 0.25e-12, 0.125e-12, 0.5e-12};
  return rates;
}

void expect_same(const DeviceRates& a, const DeviceRates& b) {
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.measured_on, b.measured_on);
  EXPECT_EQ(a.tiles, b.tiles);
  EXPECT_EQ(a.bins, b.bins);
  EXPECT_EQ(a.csr, b.csr);
  EXPECT_EQ(a.block, b.block);
}

TEST(DeviceRates, ComeBackFromJson) {
  expect_same(device_rates_from_json(device_rates_to_json(some_rates()), "t.json"), some_rates());
}

void expect_refused(const std::string& text, const std::string& complaint) {
  try {
    device_rates_from_json(text, "t.json");
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), StartsWith("t.json: "));
    EXPECT_THAT(error.what(), HasSubstr(complaint));
    EXPECT_THAT(error.what(), HasSubstr("run `tessera tune` again, or delete it"));
    EXPECT_THAT(error.what(), Not(HasSubstr("json.exception")));
  }
}

TEST(DeviceRates, ABadFileIsNamedWithTheRemedy) {
  const std::string good = device_rates_to_json(some_rates());
  for (std::size_t size = 0; size + 2 < good.size(); size += 7)  // the last brace and line end apart
    expect_refused(good.substr(0, size), "not a table");
  for (const char* text : {"[]", "null", "{}", "{\"format\": \"tessera-perf-table\", \"version\": 9}"})
    expect_refused(text, "not a table");
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  expect_refused(broken("\"version\": 10", "\"version\": 9"), "of this version");
  for (const char* key :
       {"device", "measured_on", "tiles", "bins", "csr", "f32_element_seconds", "f64_element_seconds",
        "row_seconds", "cell_seconds", "value_row_element_seconds", "near_gather_seconds",
        "adjacent_gather_seconds", "cut_rows_seconds", "uneven_element_seconds", "chunk_seconds"})
    expect_refused(broken(fmt::format("\"{}\"", key), "\"missing\""), key);
  for (const char* bad : {"-1e-12", "\"x\"", "null", "[1]"})
    expect_refused(broken("\"f32_element_seconds\": 7e-13", fmt::format("\"f32_element_seconds\": {}", bad)),
                   fmt::format("\"f32_element_seconds\" is {}, expected seconds", bad));
  expect_refused(broken("7e-13", "1e999"), "1e999");
}

TEST(DeviceRates, TheDefaultNamesItsGpuAndHasAllRates) {
  const DeviceRates& rates = default_device_rates();
  EXPECT_FALSE(rates.device.empty());
  EXPECT_FALSE(rates.measured_on.empty());
  for (const double rate : rates.tiles) EXPECT_GT(rate, 0);
  for (const double rate : rates.bins) EXPECT_GT(rate, 0);
  for (const double rate : rates.csr) EXPECT_GT(rate, 0);
  for (const double rate : rates.block) EXPECT_GT(rate, 0);
}

TEST(DeviceRates, WithoutAGpuTheDefaultIsTaken) {
  if (num_devices() > 0) GTEST_SKIP() << "a GPU answers here";
  run_ranks(3, [](Communicator& comm) { expect_same(load_device_rates(comm), default_device_rates()); });
}

}  // namespace
}  // namespace tessera::test
