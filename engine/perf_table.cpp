#include "engine/perf_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {

extern const char* const kDefaultPerfTableText;  // made from configs/cpu-default.table.json by CMake

namespace {

using nlohmann::json;

int log2_rounded(std::uint32_t value) {
  const int floor = std::bit_width(std::max(value, 1u)) - 1;
  return value >= (3u << floor) / 2 && floor < 31 ? floor + 1 : floor;
}

}  // namespace

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line, name = "unknown";
  while (std::getline(cpuinfo, line))
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
      name = line.substr(line.find(": ") + 2);
      break;
    }
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  return name;
}

void PerfTable::prepare() {
  for (int i = 0; i < kGridSize; ++i)
    for (int j = 0; j < kGridSize; ++j) {
      double nearest = 1e30, ns = 1;
      for (const Entry& entry : entries) {
        if ((entry.width > entry.height) != (i > j)) continue;  // the two layouts are different code
        const double di = std::log2(entry.width) - i, dj = std::log2(entry.height) - j;
        if (di * di + dj * dj >= nearest) continue;
        nearest = di * di + dj * dj;
        ns = entry.ns_per_element;
      }
      elements_per_second_[i][j] = 1e9 / ns;
    }
}

double PerfTable::elements_per_second(std::uint32_t width, std::uint32_t height) const {
  int i = std::min(log2_rounded(width), kGridSize - 1), j = std::min(log2_rounded(height), kGridSize - 1);
  if (width > height && i <= j) i = std::min(j + 1, kGridSize - 1);  // rounding must not change the layout
  if (width <= height && i > j) j = i;
  return elements_per_second_[i][j];
}

double PerfTable::csr_ns_per_element(double x_bytes) const {
  if (csr.empty()) return 1;
  if (x_bytes <= static_cast<double>(csr.front().x_bytes)) return csr.front().ns_per_element;
  for (std::size_t i = 1; i < csr.size(); ++i) {
    const double low = std::log2(csr[i - 1].x_bytes), high = std::log2(csr[i].x_bytes);
    if (x_bytes > static_cast<double>(csr[i].x_bytes)) continue;
    const double t = (std::log2(x_bytes) - low) / (high - low);
    return csr[i - 1].ns_per_element * (1 - t) + csr[i].ns_per_element * t;
  }
  return csr.back().ns_per_element;
}

std::string perf_table_to_json(const PerfTable& table) {
  json out = {{"format", "tessera-perf-table"},
              {"version", 1},
              {"machine", table.machine},
              {"measured_on", table.measured_on},
              {"csr_ns_per_row", table.csr_ns_per_row}};
  for (const auto& e : table.entries)
    out["shapes"].push_back({{"width", e.width}, {"height", e.height}, {"ns_per_element", e.ns_per_element}});
  for (const auto& e : table.csr)
    out["csr"].push_back({{"x_bytes", e.x_bytes}, {"ns_per_element", e.ns_per_element}});
  return out.dump(1) + "\n";
}

PerfTable perf_table_from_json(const std::string& text, const std::string& path) {
  try {
    const json in = json::parse(text);
    if (in.at("format") != "tessera-perf-table" || in.at("version") != 1)
      throw InputError(path + ": not a performance table of this version; run `tessera tune` again");
    PerfTable table;
    table.machine = in.at("machine");
    table.measured_on = in.at("measured_on");
    table.csr_ns_per_row = in.at("csr_ns_per_row");
    for (const json& e : in.at("shapes"))
      table.entries.push_back({e.at("width"), e.at("height"), e.at("ns_per_element")});
    for (const json& e : in.at("csr")) table.csr.push_back({e.at("x_bytes"), e.at("ns_per_element")});
    for (const auto& e : table.entries)
      if (e.width == 0 || e.height == 0 || !(e.ns_per_element > 0))
        throw InputError(path + ": a shape or time is not positive");
    for (const auto& e : table.csr)
      if (e.x_bytes == 0 || !(e.ns_per_element > 0))
        throw InputError(path + ": a size or time is not positive");
    if (table.entries.empty() || table.csr.empty()) throw InputError(path + ": the table has no entries");
    table.prepare();
    return table;
  } catch (const json::exception& error) {
    throw InputError(path + ": not a performance table (" + error.what() + "); run `tessera tune` again");
  }
}

const PerfTable& default_perf_table() {
  static const PerfTable table = perf_table_from_json(kDefaultPerfTableText, "built-in table");
  return table;
}

std::string perf_table_path() {
  std::string folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    folder = cache;
  else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    folder = std::string(home) + "/.cache";
  else
    throw ResourceError("neither XDG_CACHE_HOME nor HOME is set: no place for the performance table");
  return folder + "/tessera/cpu-" + processor_name() + ".table.json";
}

PerfTable load_perf_table(Communicator& comm) {
  std::string text = kDefaultPerfTableText, path = "built-in table";
  run_together(comm, [&] {
    const bool has_folder = std::getenv("XDG_CACHE_HOME") != nullptr || std::getenv("HOME") != nullptr;
    if (!comm.is_root() || !has_folder) return;
    std::ifstream file(perf_table_path());
    if (!file) return;
    path = perf_table_path();
    text.assign(std::istreambuf_iterator<char>(file), {});
  });
  comm.broadcast(text, 0);
  comm.broadcast(path, 0);
  return perf_table_from_json(text, path);
}

}  // namespace tessera
