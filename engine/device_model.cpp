#include "engine/device_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/block_padding.hpp"
#include "kernels/rows_in_fours.hpp"
#include "kernels/tile_composite_view.hpp"
#include "kernels/tile_messages_view.hpp"

namespace tessera {
namespace {

/// What x competes for in the L2 of 60 MB (H200).
constexpr double kCacheBytes = 40e6;
/// With the padding of rows to words and slices; seen: 1.12 to 1.25.
constexpr double kPadding = 1.2;
/// What a row costs beside its elements, in bytes that stream: 10 of them move (where it begins in its block,
/// and its sum); the rest stands for its share of a block.
constexpr double kCsrRowBytes = 18;
/// Adjacent and near inputs are read by the line: what those of f64 cost, in those of f32; less where
/// elements have values, whose bytes count besides, and whose loads are all under way together. Seen: 1.5 to
/// 3, with values in f64 1.25 to 1.5, in f32 0.7 to 1.
constexpr double kWideGather = 2, kWideWeightedGather = 1.5, kWeightedGather = 0.8;
/// Where a thread adds up a row, those of its warp wait for the longest. Fitted: how long a row counts as at
/// most (blocks of long rows are added by eight threads a row, cuda_row_blocks.cpp), and the mean length up
/// to which the wait shows only in part.
constexpr double kThreadRow = 64, kShortRow = 4;
/// Products of one vector: elements of a first block on each of 132 multiprocessors, and those of a row from
/// which on it is cut (in tiles it counts as no longer; large matrices cut from 2,048 on, which the rates do
/// not tell apart).
constexpr double kFirstElements = 132 * 256, kCutRow = 1024;
/// A message's place in its bin, and its share of slices.
constexpr double kMessageIndexBytes = 3;

template <std::size_t kSize>
double dot(const Rates<kSize>& rates, const Rates<kSize>& work) {
  return std::inner_product(rates.begin(), rates.end(), work.begin(), 0.0);
}

double value_bytes_of_elements(const DeviceWork& work) {
  return work.weighted ? work.value_bytes * work.num_nonzeros : 0;
}

double csr_element_bytes(const DeviceWork& work) {
  return 4 * work.num_nonzeros + value_bytes_of_elements(work);
}

/// As if the longest row were one of every warp's.
double uneven_elements(const DeviceWork& work) {
  const double longest = std::min(work.longest_row, kThreadRow);
  if (work.num_nonzeros == 0 || longest == 0) return 0;
  const double mean = work.num_nonzeros / work.num_rows;
  return work.num_nonzeros * std::max(0.0, 1 - mean / longest) * std::min(1.0, mean / kShortRow);
}

double row_doublings(const DeviceWork& work) { return std::log2(1 + std::min(work.longest_row, kCutRow)); }

}  // namespace

double expected_cells(std::span<const double> messages_of_tile, const BinLimits& limits) {
  check(limits);
  const double messages = std::accumulate(messages_of_tile.begin(), messages_of_tile.end(), 0.0);
  const auto bins = static_cast<double>(count_bins(static_cast<std::uint64_t>(messages), limits));
  double cells = 0;
  for (const double count : messages_of_tile)
    cells += bins > 1 ? -bins * std::expm1(count * std::log1p(-1 / bins)) : std::min(count, 1.0);
  return cells;
}

Rates<kTilesRates.size()> tiles_work(const DeviceWork& work) {
  const bool in_f64 = work.value_bytes == sizeof(double);
  return {1,
          row_doublings(work),
          in_f64 ? 0 : work.num_nonzeros,
          in_f64 ? work.num_nonzeros : 0,
          value_bytes_of_elements(work),
          work.weighted ? std::min<double>(work.longest_row, kJointLength) : 0,
          work.num_messages * work.value_bytes,
          work.num_columns * work.value_bytes,
          work.num_cells};
}

Rates<kBinsRates.size()> bins_work(const DeviceWork& work) {
  return {1, work.num_messages * work.value_bytes, work.num_messages, work.num_rows};
}

Rates<kCsrRates.size()> csr_work(const DeviceWork& work) {
  const double cached = std::min(1.0, kCacheBytes / std::max(1.0, work.value_bytes * work.num_columns));
  const double far = work.num_nonzeros - work.num_adjacent - work.num_near;
  const bool in_f64 = work.value_bytes == sizeof(double);
  const double gather =
      in_f64 ? (work.weighted ? kWideWeightedGather : kWideGather) : (work.weighted ? kWeightedGather : 1);
  return {1,
          std::min(1.0, work.num_nonzeros / kFirstElements),
          row_doublings(work),
          work.longest_row > kCutRow ? 1.0 : 0.0,
          gather * work.num_adjacent,
          gather * work.num_near,
          cached * far,
          (1 - cached) * far,
          csr_element_bytes(work) + kCsrRowBytes * work.num_rows,
          uneven_elements(work)};
}

Rates<kBlockRates.size()> block_work(const DeviceWork& work, unsigned num_vectors) {
  const auto value_bytes = static_cast<std::uint64_t>(work.value_bytes);
  const std::uint64_t vectors = padded_vectors(num_vectors, value_bytes);
  const auto width = static_cast<double>(vectors);
  const double inputs = width * work.value_bytes, gathered = inputs * work.num_nonzeros;
  const double cached = std::min(1.0, kCacheBytes / std::max(1.0, inputs * work.num_columns));
  const double streamed = predict_device_csr_bytes(work) + 8 * width * work.num_rows;
  return {1,
          std::min(1.0, work.longest_row / kSumChunk),
          adds_in_fours(vectors, value_bytes) ? 0 : work.num_nonzeros,
          cached * gathered,
          (1 - cached) * gathered,
          streamed};
}

double predict_tiles_seconds(const DeviceWork& work, const DeviceRates& rates) {
  return dot(rates.tiles, tiles_work(work));
}

double predict_bins_seconds(const DeviceWork& work, const DeviceRates& rates) {
  return dot(rates.bins, bins_work(work));
}

double predict_device_csr_seconds(const DeviceWork& work, const DeviceRates& rates) {
  return dot(rates.csr, csr_work(work));
}

double predict_csr_block_seconds(const DeviceWork& work, unsigned num_vectors, const DeviceRates& rates) {
  return dot(rates.block, block_work(work, num_vectors));
}

double predict_messages_bytes(const DeviceWork& work) {
  return kPadding * (2 * work.num_nonzeros + value_bytes_of_elements(work)) +
         (work.value_bytes + kMessageIndexBytes) * work.num_messages + 4 * work.num_rows;
}

double predict_device_csr_bytes(const DeviceWork& work) {
  constexpr double kOffsets = 8 + 2;  // where a row begins, in the matrix and in its block
  return csr_element_bytes(work) + kOffsets * work.num_rows;
}

}  // namespace tessera
