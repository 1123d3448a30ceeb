#include "engine/device_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/table_file.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

using nlohmann::ordered_json;

constexpr const char* kFormat = "tessera-device-samples";
constexpr int kVersion = 1;  // goes up when what DeviceWork counts changes

struct WorkField {
  const char* name;
  double DeviceWork::*count;
};
constexpr WorkField kWorkFields[] = {
    {"rows", &DeviceWork::num_rows},          {"columns", &DeviceWork::num_columns},
    {"nonzeros", &DeviceWork::num_nonzeros},  {"adjacent", &DeviceWork::num_adjacent},
    {"near", &DeviceWork::num_near},          {"messages", &DeviceWork::num_messages},
    {"cells", &DeviceWork::num_cells},        {"longest_row", &DeviceWork::longest_row},
    {"value_bytes", &DeviceWork::value_bytes}};

ordered_json work_json(const DeviceWork& work) {
  ordered_json json;
  for (const WorkField& field : kWorkFields) json[field.name] = work.*field.count;
  json["weighted"] = work.weighted;
  return json;
}

[[noreturn]] void refuse(const char* name, const ordered_json& value, const char* expected) {
  throw InputError(fmt::format("\"{}\" is {}, expected {}", name, value.dump().substr(0, 40), expected));
}

/// At least 0.
double read_number(const ordered_json& json, const char* name) {
  const ordered_json& value = json.at(name);
  if (!value.is_number() || value.get<double>() < 0) refuse(name, value, "a number, at least 0");
  return value.get<double>();
}

/// What the counts of a sample mean.
void check_equal(const ordered_json& json, const char* name, const ordered_json& expected) {
  if (json.at(name) != expected) refuse(name, json.at(name), expected.dump().c_str());
}

DeviceWork read_work(const ordered_json& json) {
  DeviceWork work;
  for (const WorkField& field : kWorkFields) work.*field.count = read_number(json, field.name);
  if (work.value_bytes != 4 && work.value_bytes != 8) refuse("value_bytes", json.at("value_bytes"), "4 or 8");
  work.weighted = json.at("weighted");
  return work;
}

unsigned read_vectors(const ordered_json& json) {
  constexpr double kMostVectors = 1 << 20;
  const double count = read_number(json, "vectors");
  if (count < 1 || count > kMostVectors || count != std::floor(count))
    refuse("vectors", json.at("vectors"), "a count from 1 to 1,048,576");
  return static_cast<unsigned>(count);
}

void read_sample(const ordered_json& json, DeviceSamples& samples) {
  const DeviceWork work = read_work(json);
  if (json.contains("tiles_seconds"))
    samples.tiles.push_back({work, read_number(json, "tiles_seconds"), read_number(json, "bins_seconds")});
  else
    samples.csr.push_back({work, read_number(json, "csr_seconds"), read_vectors(json)});
}

void read_head(const ordered_json& json, DeviceSamples& samples) {
  check_equal(json, "format", kFormat);
  check_equal(json, "version", kVersion);
  check_equal(json, "adjacent_columns", kAdjacentColumns);
  check_equal(json, "near_columns", kNearColumns);
  samples.device = json.at("device");
  samples.measured_on = json.at("measured_on");
}

/// Rates of what there are no samples of would be 0, and then every plan would take it.
void check_all_kinds(const DeviceSamples& samples) {
  const auto is_block = [](const CsrSample& sample) { return sample.num_vectors > 1; };
  const auto num_blocks = std::count_if(samples.csr.begin(), samples.csr.end(), is_block);
  if (samples.tiles.empty()) throw InputError("no samples of tile-messages");
  if (num_blocks == std::ssize(samples.csr)) throw InputError("no samples of CSR with one vector");
  if (num_blocks == 0) throw InputError("no samples of CSR with several vectors");
}

}  // namespace

std::string device_samples_to_json_lines(const DeviceSamples& samples) {
  const ordered_json head = {{"format", kFormat},
                             {"version", kVersion},
                             {"adjacent_columns", kAdjacentColumns},
                             {"near_columns", kNearColumns},
                             {"device", samples.device},
                             {"measured_on", samples.measured_on}};
  std::string text = head.dump() + "\n";
  for (const TilesSample& sample : samples.tiles) {
    ordered_json json = work_json(sample.work);
    json["tiles_seconds"] = sample.tiles_seconds;
    json["bins_seconds"] = sample.bins_seconds;
    text += json.dump() + "\n";
  }
  for (const CsrSample& sample : samples.csr) {
    ordered_json json = work_json(sample.work);
    json["vectors"] = sample.num_vectors;
    json["csr_seconds"] = sample.seconds;
    text += json.dump() + "\n";
  }
  return text;
}

DeviceSamples device_samples_from_json_lines(const std::string& text, const std::string& path) {
  DeviceSamples samples;
  std::istringstream lines(text);
  std::string line;
  std::uint64_t number = 0;
  try {
    while (std::getline(lines, line)) {
      ++number;
      const ordered_json json = ordered_json::parse(line);
      if (number == 1)
        read_head(json, samples);
      else
        read_sample(json, samples);
    }
    number = 0;  // what is wrong now is wrong with the file
    check_all_kinds(samples);
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}{}: {}; expected what `tessera tune --samples` wrote", path,
                                 number == 0 ? "" : fmt::format(":{}", number), json_complaint(error)));
  }
  return samples;
}

}  // namespace tessera
