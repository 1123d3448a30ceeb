// Predicts products and memory on a GPU from facts that are known before anything is packed. The rates are
// those of docs/benchmarks.md (H200): a message form streams, a CSR gathers.
#pragma once
#include <cstdint>

namespace tessera {

/// Of the whole matrix.
struct DeviceWork {
  double num_rows = 0, num_columns = 0, num_nonzeros = 0;
  double longest_row = 0;
  double num_messages = 0;  ///< non-empty (row, tile) pairs
  double value_bytes = 4;   ///< of x and messages
  bool weighted = false;
};

/// One product with one vector on one GPU.
double predict_messages_seconds(const DeviceWork& work);
double predict_device_csr_seconds(const DeviceWork& work);

/// Bytes of the packed form, its messages among them.
double predict_messages_bytes(const DeviceWork& work);
double predict_device_csr_bytes(const DeviceWork& work);

}  // namespace tessera
