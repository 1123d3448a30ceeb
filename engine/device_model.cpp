#include "engine/device_model.hpp"

#include <algorithm>

namespace tessera {
namespace {

/// What both passes reach, of 4 TB/s that a copy does.
constexpr double kStreamBytesPerSecond = 2.5e12;
/// Gathers of single values from L2 and from memory; x competes for the L2 of 60 MB.
constexpr double kCachedGathersPerSecond = 130e9, kGathersPerSecond = 55e9, kCacheBytes = 40e6;
constexpr double kLaunchSeconds = 12e-6;
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
  // Messages are written and read.
  const double bytes = predict_messages_bytes(work) + work.value_bytes * work.num_messages + row_bytes(work);
  return 2 * kLaunchSeconds + bytes / kStreamBytesPerSecond;
}

double predict_device_csr_seconds(const DeviceWork& work) {
  const double cached = std::min(1.0, kCacheBytes / std::max(1.0, work.value_bytes * work.num_columns));
  const double gather = cached / kCachedGathersPerSecond + (1 - cached) / kGathersPerSecond;
  return kLaunchSeconds + work.num_nonzeros * gather +
         (predict_device_csr_bytes(work) + row_bytes(work)) / kStreamBytesPerSecond;
}

}  // namespace tessera
