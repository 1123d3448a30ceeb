// Predicts products and memory on a GPU from facts that are known before anything is packed, with measured
// rates (engine/device_rates.hpp): a message form streams, a CSR gathers.
#pragma once
#include <cstdint>
#include <span>

#include "engine/device_rates.hpp"
#include "kernels/message_bins.hpp"

namespace tessera {

/// Elements whose column is no further from their row than this are adjacent, or near: rows that follow each
/// other gather such inputs from few lines of cache.
inline constexpr std::uint64_t kAdjacentColumns = 64, kNearColumns = 4096;
struct NearCounts {
  std::uint64_t adjacent = 0, near = 0;  ///< the adjacent are not among the near
  void add(std::uint64_t row, std::uint64_t column) {
    const std::uint64_t distance = row < column ? column - row : row - column;
    adjacent += distance <= kAdjacentColumns;
    near += distance > kAdjacentColumns && distance <= kNearColumns;
  }
};

/// Of the whole matrix.
struct DeviceWork {
  double num_rows = 0, num_columns = 0, num_nonzeros = 0;
  double num_adjacent = 0, num_near = 0;  ///< elements that are, rows and columns as given
  double num_messages = 0;                ///< non-empty (row, tile) pairs
  double num_cells = 0;                   ///< non-empty (tile, bin) pairs, expected
  double longest_row = 0;                 ///< its elements
  double value_bytes = 4;                 ///< of x and messages
  bool weighted = false;
};

/// Non-empty (tile, bin) pairs where a tile's messages fall into bins of equal size by chance.
double expected_cells(std::span<const double> messages_of_tile, const BinLimits& limits);

/// How much there is of what each rate is for, in their order.
Rates<kTilesRates.size()> tiles_work(const DeviceWork& work);
Rates<kBinsRates.size()> bins_work(const DeviceWork& work);
Rates<kCsrRates.size()> csr_work(const DeviceWork& work);
Rates<kBlockRates.size()> block_work(const DeviceWork& work, unsigned num_vectors);

/// Of one product with one vector on one GPU: the two passes of tile-messages, and CSR.
double predict_tiles_seconds(const DeviceWork& work, const DeviceRates& rates);
double predict_bins_seconds(const DeviceWork& work, const DeviceRates& rates);
double predict_device_csr_seconds(const DeviceWork& work, const DeviceRates& rates);
/// Of one product with num_vectors > 1 vectors, row by row.
double predict_csr_block_seconds(const DeviceWork& work, unsigned num_vectors, const DeviceRates& rates);

/// Bytes of the packed form, its messages among them.
double predict_messages_bytes(const DeviceWork& work);
double predict_device_csr_bytes(const DeviceWork& work);

}  // namespace tessera
