// The measured lookup table of the performance model (paper 3.3): how fast one warp works on a w x h
// workload. Measured by `tessera tune`, kept per machine; a default ships with the program.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/device_rates.hpp"
#include "partition/communicator.hpp"

namespace tessera {

struct PerfTable {
  std::string machine = "default";  ///< processor the table was measured on
  std::string measured_on;          ///< date
  /// Nanoseconds a stored element for one thread, adding the rows' sums to y included, by shape; other
  /// shapes take the nearest entry of the same layout.
  struct Entry {
    std::uint32_t width = 0, height = 0;
    double ns_per_element = 0;
  };
  std::vector<Entry> entries;  ///< row-major shapes (width > height) and column-major ones
  /// Plain CSR: nanoseconds an element when the x that is read often has so many bytes.
  struct CsrEntry {
    std::uint64_t x_bytes = 0;
    double ns_per_element = 0;
  };
  std::vector<CsrEntry> csr;
  double csr_ns_per_row = 0;
  /// Of the GPU, where one computes; kept in a file of its own.
  DeviceRates gpu = default_device_rates();

  /// Elements a second of one warp on a w x h workload: Performance(w, h) of algorithm 3.
  double elements_per_second(std::uint32_t width, std::uint32_t height) const;
  /// Of plain CSR whose inputs lie in so many bytes of x; between the entries of `csr` interpolated.
  double csr_ns_per_element(double x_bytes) const;
  /// Fills the lookup grid from `entries`; call after changing them.
  void prepare();

 private:
  static constexpr int kGridSize = 32;  // powers of two of width and height
  double elements_per_second_[kGridSize][kGridSize] = {};
};

/// The table shipped with the program (configs/cpu-default.table.json, built in).
const PerfTable& default_perf_table();
/// The user's table for this machine when `tessera tune` has written one, else the default. Collective: rank
/// 0 reads, so that ranks on different machines plan alike.
PerfTable load_perf_table(Communicator& comm);
/// The processor as /proc/cpuinfo names it, in letters, digits and '-'.
std::string processor_name();
/// $XDG_CACHE_HOME/tessera/cpu-<processor>.table.json (or ~/.cache).
std::string perf_table_path();
std::string perf_table_to_json(const PerfTable& table);
/// Throws InputError naming `path` when the text is not a table.
PerfTable perf_table_from_json(const std::string& text, const std::string& path);

}  // namespace tessera
