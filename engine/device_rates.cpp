#include "engine/device_rates.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/table_file.hpp"
#include "kernels/base/error.hpp"
#include "kernels/devices.hpp"

namespace tessera {

extern const char* const kDefaultDeviceRatesText;  // made from configs/gpu-default.table.json by CMake

namespace {

using nlohmann::ordered_json;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw InputError(fmt::format("{}: {}; run `tessera tune` again, or delete it", path, what));
}

template <std::size_t kSize>
ordered_json rates_json(const std::array<const char*, kSize>& names, const Rates<kSize>& rates) {
  ordered_json json;
  for (std::size_t i = 0; i < kSize; ++i) json[names[i]] = rates[i];
  return json;
}

template <std::size_t kSize>
Rates<kSize> read_rates(const ordered_json& json, const std::array<const char*, kSize>& names,
                        const std::string& path) {
  Rates<kSize> rates;
  for (std::size_t i = 0; i < kSize; ++i) {
    const ordered_json& value = json.at(names[i]);
    if (!value.is_number() || value.get<double>() < 0)
      fail(path,
           fmt::format("\"{}\" is {}, expected seconds, at least 0", names[i], value.dump().substr(0, 40)));
    rates[i] = value.get<double>();
  }
  return rates;
}

constexpr int kVersion = 10;  // of the rates; other versions of the program keep theirs in other files
std::string table_name() { return fmt::format("gpu-{}-v{}", name_for_files(device_name()), kVersion); }

}  // namespace

std::string device_rates_to_json(const DeviceRates& rates) {
  const ordered_json json = {{"format", "tessera-device-rates"},
                             {"version", kVersion},
                             {"device", rates.device},
                             {"measured_on", rates.measured_on},
                             {"tiles", rates_json(kTilesRates, rates.tiles)},
                             {"bins", rates_json(kBinsRates, rates.bins)},
                             {"csr", rates_json(kCsrRates, rates.csr)},
                             {"block", rates_json(kBlockRates, rates.block)}};
  return json.dump(1) + "\n";
}

DeviceRates device_rates_from_json(const std::string& text, const std::string& path) {
  try {
    const ordered_json json = ordered_json::parse(text);
    if (json.at("format") != "tessera-device-rates" || json.at("version") != kVersion)
      fail(path, "not a table of GPU rates of this version");
    return {.device = json.at("device"),
            .measured_on = json.at("measured_on"),
            .tiles = read_rates(json.at("tiles"), kTilesRates, path),
            .bins = read_rates(json.at("bins"), kBinsRates, path),
            .csr = read_rates(json.at("csr"), kCsrRates, path),
            .block = read_rates(json.at("block"), kBlockRates, path)};
  } catch (const ordered_json::exception& error) {
    fail(path, fmt::format("not a table of GPU rates ({})", json_complaint(error)));
  }
}

const DeviceRates& default_device_rates() {
  static const DeviceRates rates = device_rates_from_json(kDefaultDeviceRatesText, "built-in table");
  return rates;
}

std::string device_rates_path() { return table_path(table_name()); }

DeviceRates load_device_rates(Communicator& comm) {
  const std::string name = comm.is_root() && num_devices() > 0 ? table_name() : "";
  const TableText found = read_table(name, {kDefaultDeviceRatesText, "built-in table"}, comm);
  return device_rates_from_json(found.text, found.path);
}

}  // namespace tessera
