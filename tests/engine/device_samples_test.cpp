#include "engine/device_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/base/error.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

DeviceSamples some_samples() {
  const DeviceWork work{.num_rows = 1,
                        .num_columns = 2,
                        .num_nonzeros = 3,
                        .num_adjacent = 4,
                        .num_near = 5,
                        .num_messages = 6,
                        .num_cells = 7.25,
                        .longest_row = 8,
                        .value_bytes = 8,
                        .weighted = true};
  return {.device = "GPU of a test",
          .measured_on = "2026-11-23",
          .tiles = {{work, 1.0 / 3, 2e-6}, {{.value_bytes = 4}, 1e-300, 0}},
          .csr = {{work, 3e-6, 25}, {{}, 4e-6, 1}}};
}

void expect_same(const DeviceWork& a, const DeviceWork& b) {
  for (double DeviceWork::*count :
       {&DeviceWork::num_rows, &DeviceWork::num_columns, &DeviceWork::num_nonzeros, &DeviceWork::num_adjacent,
        &DeviceWork::num_near, &DeviceWork::num_messages, &DeviceWork::num_cells, &DeviceWork::longest_row,
        &DeviceWork::value_bytes})
    EXPECT_EQ(a.*count, b.*count);
  EXPECT_EQ(a.weighted, b.weighted);
}

TEST(DeviceSamples, ComeBackFromText) {
  const DeviceSamples samples = some_samples(), found = device_samples_from_json_lines(
                                                    device_samples_to_json_lines(samples), "s.jsonl");
  EXPECT_EQ(found.device, samples.device);
  EXPECT_EQ(found.measured_on, samples.measured_on);
  ASSERT_EQ(found.tiles.size(), samples.tiles.size());
  for (std::size_t i = 0; i < samples.tiles.size(); ++i) {
    expect_same(found.tiles[i].work, samples.tiles[i].work);
    EXPECT_EQ(found.tiles[i].tiles_seconds, samples.tiles[i].tiles_seconds);
    EXPECT_EQ(found.tiles[i].bins_seconds, samples.tiles[i].bins_seconds);
  }
  ASSERT_EQ(found.csr.size(), samples.csr.size());
  for (std::size_t i = 0; i < samples.csr.size(); ++i) {
    expect_same(found.csr[i].work, samples.csr[i].work);
    EXPECT_EQ(found.csr[i].seconds, samples.csr[i].seconds);
    EXPECT_EQ(found.csr[i].num_vectors, samples.csr[i].num_vectors);
  }
}

void expect_refused(const std::string& text, const std::string& place, const std::string& complaint) {
  try {
    device_samples_from_json_lines(text, "s.jsonl");
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), StartsWith("s.jsonl" + place + ": "));
    EXPECT_THAT(error.what(), HasSubstr(complaint));
    EXPECT_THAT(error.what(), HasSubstr("expected what `tessera tune --samples` wrote"));
  }
}

TEST(DeviceSamples, ABadLineIsNamedWithTheRemedy) {
  const std::string good = device_samples_to_json_lines(some_samples());
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  expect_refused("{}\n", ":1", "format");
  expect_refused(broken("\"version\":1", "\"version\":0"), ":1", "\"version\" is 0, expected 1");
  expect_refused(broken("\"near_columns\":4096", "\"near_columns\":2048"), ":1",
                 "\"near_columns\" is 2048, expected 4096");
  expect_refused(broken("\"rows\"", "\"roads\""), ":2", "rows");
  expect_refused(broken("\"bins_seconds\":2e-06", "\"bins_seconds\":-1"), ":2",
                 "\"bins_seconds\" is -1, expected a number, at least 0");
  expect_refused(broken("\"value_bytes\":8.0", "\"value_bytes\":7"), ":2", "expected 4 or 8");
  expect_refused(broken("\"vectors\":25", "\"vectors\":2.5"), ":4", "\"vectors\" is 2.5");
  expect_refused(broken("\"vectors\":25", "\"vectors\":0"), ":4", "\"vectors\" is 0");
  expect_refused(broken("\"csr_seconds\":3e-06", "\"csr_seconds\":\"x\""), ":4", "csr_seconds");
  expect_refused(good.substr(0, good.size() - 5), ":5", "no JSON at byte ");
}

TEST(DeviceSamples, AllKindsMustBeThere) {
  expect_refused("", "", "no samples of tile-messages");
  const auto text_without = [](auto change) {
    DeviceSamples samples = some_samples();
    change(samples);
    return device_samples_to_json_lines(samples);
  };
  expect_refused(text_without([](DeviceSamples& s) { s.tiles.clear(); }), "", "no samples of tile-messages");
  expect_refused(text_without([](DeviceSamples& s) { s.csr.erase(s.csr.begin()); }), "",
                 "no samples of CSR with several vectors");
  expect_refused(text_without([](DeviceSamples& s) { s.csr.pop_back(); }), "",
                 "no samples of CSR with one vector");
}

}  // namespace
}  // namespace tessera::test
