#include "engine/device_samples.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

using nlohmann::ordered_json;

constexpr const char* kFormat = "tessera-device-samples";
constexpr int kVersion = 1;

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

/// At least 0.
double read_number(const ordered_json& json, const char* name) {
  const ordered_json& value = json.at(name);
  if (!value.is_number() || value.get<double>() < 0)
    throw InputError(fmt::format("\"{}\" is {}, expected a number, at least 0", name, value.dump()));
  return value.get<double>();
}

DeviceWork read_work(const ordered_json& json) {
  DeviceWork work;
  for (const WorkField& field : kWorkFields) work.*field.count = read_number(json, field.name);
  work.weighted = json.at("weighted");
  return work;
}

unsigned read_vectors(const ordered_json& json) {
  constexpr double kMostVectors = 1 << 20;
  const double count = read_number(json, "vectors");
  if (count < 1 || count > kMostVectors || count != std::floor(count))
    throw InputError(fmt::format("\"vectors\" is {}, expected a count from 1 on", count));
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
  if (json.at("format") != kFormat || json.at("version") != kVersion)
    throw InputError("not samples of this version");
  samples.device = json.at("device");
  samples.measured_on = json.at("measured_on");
}

}  // namespace

std::string device_samples_to_json_lines(const DeviceSamples& samples) {
  const ordered_json head = {{"format", kFormat},
                             {"version", kVersion},
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
  const auto fail = [&](const std::string& what) {
    throw InputError(
        fmt::format("{}:{}: {}; expected what `tessera tune --samples` wrote", path, number, what));
  };
  while (std::getline(lines, line)) {
    ++number;
    try {
      const ordered_json json = ordered_json::parse(line);
      if (number == 1)
        read_head(json, samples);
      else
        read_sample(json, samples);
    } catch (const ordered_json::exception& error) {
      fail(error.what());
    } catch (const InputError& error) {
      fail(error.what());
    }
  }
  if (number == 0) fail("empty");
  return samples;
}

}  // namespace tessera
