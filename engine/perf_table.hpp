// The measured lookup table of the performance model (paper 3.3): how fast one warp works on a w x h
// workload. Measured by `tessera tune`, kept per machine; a default ships with the program.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/tile_composite_view.hpp"

namespace tessera {

struct PerfTable {
  std::string machine = "default";  ///< processor the table was measured on
  std::string measured_on;          ///< date
  /// Nanoseconds a stored element for one thread, by shape; shapes between entries are interpolated.
  struct Entry {
    std::uint32_t width = 0, height = 0;
    double ns_per_element = 0;
  };
  std::vector<Entry> entries;         ///< row-major shapes (width > height) and column-major ones
  double ns_per_row_piece = 0;        ///< adding one partial sum to y
  /// Plain CSR: nanoseconds an element when the x that is read often has so many bytes.
  struct CsrEntry {
    std::uint64_t x_bytes = 0;
    double ns_per_element = 0;
  };
  std::vector<CsrEntry> csr;
  double csr_ns_per_row = 0;

  /// Elements a second of one warp on a w x h workload: Performance(w, h) of algorithm 3.
  double elements_per_second(std::uint32_t width, std::uint32_t height) const;
  double csr_ns_per_element(double x_bytes) const;
};

/// The table shipped with the program (configs/cpu-default.table.json, built in).
const PerfTable& default_perf_table();
/// The user's table for this machine when `tessera tune` has written one, else the default.
PerfTable load_perf_table();
/// $XDG_CACHE_HOME/tessera/cpu-<processor>.table.json (or ~/.cache).
std::string perf_table_path();
std::string perf_table_to_json(const PerfTable& table);
/// Throws InputError naming `path` when the text is not a table.
PerfTable perf_table_from_json(const std::string& text, const std::string& path);

}  // namespace tessera
