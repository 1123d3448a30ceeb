#include "engine/device_model.hpp"

#include <algorithm>

#include "kernels/tile_composite_view.hpp"

namespace tessera {
namespace {

/// Of a product of tile-messages, fitted to 43 products on an H200 (docs/benchmarks.md; all but 6 within
/// 20 %): two launches; gathers from shared memory, an element's 2 bytes among them; messages, written and
/// read, with their place in a bin; rows of the product.
constexpr double kLaunchSeconds = 5e-6, kElementSeconds = 0.71e-12, kMessageBytesPerSecond = 0.975e12,
                 kRowSeconds = 1.5e-12, kValueBytesPerSecond = 2.5e12;
/// Of a CSR product: its launch, another one for rows of more than a chunk, what streams, and gathers of
/// single values from L2 and from memory; x competes for the L2 of 60 MB.
constexpr double kCsrLaunchSeconds = 8e-6, kLongRowsSeconds = 12e-6, kStreamBytesPerSecond = 2.5e12;
constexpr double kCachedGathersPerSecond = 130e9, kGathersPerSecond = 55e9, kCacheBytes = 40e6;
/// Padding of rows to words and slices; seen: 0.12 to 0.25.
constexpr double kPadding = 1.2;
/// A message's place in its bin, and its share of slices.
constexpr double kMessageIndexBytes = 3;

double row_bytes(const DeviceWork& work) { return 12 * work.num_rows; }

}  // namespace

double predict_messages_bytes(const DeviceWork& work) {
  const double element = 2 + (work.weighted ? work.value_bytes : 0);
  return kPadding * element * work.num_nonzeros +
         (work.value_bytes + kMessageIndexBytes) * work.num_messages + 4 * work.num_rows;
}

double predict_device_csr_bytes(const DeviceWork& work) {
  return (4 + (work.weighted ? work.value_bytes : 0)) * work.num_nonzeros + 8 * work.num_rows;
}

double predict_messages_seconds(const DeviceWork& work) {
  const double values = work.weighted ? work.value_bytes / kValueBytesPerSecond : 0;
  return 2 * kLaunchSeconds + work.num_nonzeros * (kElementSeconds + values) +
         work.num_messages * work.value_bytes / kMessageBytesPerSecond + work.num_rows * kRowSeconds;
}

double predict_device_csr_seconds(const DeviceWork& work) {
  const double cached = std::min(1.0, kCacheBytes / std::max(1.0, work.value_bytes * work.num_columns));
  const double gather = cached / kCachedGathersPerSecond + (1 - cached) / kGathersPerSecond;
  const double launches = kCsrLaunchSeconds + (work.longest_row > kSumChunk ? kLongRowsSeconds : 0);
  return launches + work.num_nonzeros * gather +
         (predict_device_csr_bytes(work) + row_bytes(work)) / kStreamBytesPerSecond;
}

}  // namespace tessera
