#include "engine/perf_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/table_file.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

extern const char* const kDefaultPerfTableText;  // made from configs/cpu-default.table.json by CMake

namespace {

using nlohmann::json;

int log2_rounded(std::uint32_t value) {
  const int floor = std::bit_width(std::max(value, 1u)) - 1;
  return 2 * std::uint64_t{value} >= std::uint64_t{3} << floor ? floor + 1 : floor;
}

/// Takes a table out of JSON. Numbers are checked before they are converted: the JSON library would wrap -1
/// and cut 2.5 without a word.
class TableReader {
 public:
  explicit TableReader(const std::string& path) : path_(path) {}

  PerfTable read(const json& in) const {
    if (in.at("format") != "tessera-perf-table" || in.at("version") != 1)
      fail("not a performance table of this version");
    PerfTable table;
    table.machine = in.at("machine");
    table.measured_on = in.at("measured_on");
    table.csr_ns_per_row = time(in, "csr_ns_per_row");
    for (const json& e : in.at("shapes"))
      table.entries.push_back({count<std::uint32_t>(e, "width"), count<std::uint32_t>(e, "height"),
                               positive_time(e, "ns_per_element")});
    for (const json& e : in.at("csr"))
      table.csr.push_back({count<std::uint64_t>(e, "x_bytes"), positive_time(e, "ns_per_element")});
    check(table);
    table.prepare();
    return table;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: {}; run `tessera tune` again, or delete it", path_, what));
  }

 private:
  [[noreturn]] void fail(const char* key, const json& value, const std::string& expected) const {
    fail(fmt::format("\"{}\" is {}, expected {}", key, value.dump().substr(0, 40), expected));
  }
  template <class T>
  T count(const json& entry, const char* key) const {
    constexpr std::uint64_t kLargest = std::numeric_limits<T>::max();
    const json& value = entry.at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0 ||
        value.get<std::uint64_t>() > kLargest)
      fail(key, value, fmt::format("a whole number from 1 to {}", kLargest));
    return value.get<T>();
  }
  double time(const json& entry, const char* key) const {
    const json& value = entry.at(key);
    if (!value.is_number() || value.get<double>() < 0) fail(key, value, "nanoseconds, at least 0");
    return value.get<double>();
  }
  double positive_time(const json& entry, const char* key) const {
    const double ns = time(entry, key);
    if (ns == 0) fail(key, entry.at(key), "nanoseconds above 0");
    return ns;
  }
  void check(const PerfTable& table) const {
    const auto is_row_major = [](const PerfTable::Entry& e) { return e.width > e.height; };
    const auto row_major = std::count_if(table.entries.begin(), table.entries.end(), is_row_major);
    if (row_major == 0 || row_major == static_cast<std::ptrdiff_t>(table.entries.size()))
      fail("\"shapes\" needs at least one shape wider than high and one that is not");
    if (table.csr.empty()) fail("\"csr\" is empty, expected at least one size");
    for (std::size_t i = 1; i < table.csr.size(); ++i)
      if (table.csr[i].x_bytes <= table.csr[i - 1].x_bytes)
        fail(fmt::format("\"x_bytes\" {} follows {}, expected rising sizes", table.csr[i].x_bytes,
                         table.csr[i - 1].x_bytes));
  }

  const std::string& path_;
};

}  // namespace

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line, name = "unknown";
  while (std::getline(cpuinfo, line))
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
      name = line.substr(line.find(": ") + 2);
      break;
    }
  return name_for_files(name);
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
  const TableReader reader(path);
  try {
    return reader.read(json::parse(text));
  } catch (const json::exception& error) {
    reader.fail(fmt::format("not a performance table ({})", json_complaint(error)));
  }
}

const PerfTable& default_perf_table() {
  static const PerfTable table = perf_table_from_json(kDefaultPerfTableText, "built-in table");
  return table;
}

std::string perf_table_path() { return table_path("cpu-" + processor_name()); }

PerfTable load_perf_table(Communicator& comm) {
  const TableText found =
      read_table("cpu-" + processor_name(), {kDefaultPerfTableText, "built-in table"}, comm);
  return perf_table_from_json(found.text, found.path);
}

}  // namespace tessera
