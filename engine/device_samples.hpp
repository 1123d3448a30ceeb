// Times of products on a GPU, and what was multiplied: what rates are fitted to (engine/device_fit.hpp). Kept
// as text, so that a fit can be repeated, or changed, where there is no GPU.
#pragma once
#include <string>
#include <vector>

#include "engine/device_model.hpp"

namespace tessera {

/// One product, and how long it took.
struct TilesSample {
  DeviceWork work;
  double tiles_seconds = 0, bins_seconds = 0;
};
struct CsrSample {
  DeviceWork work;
  double seconds = 0;
  unsigned num_vectors = 1;
};

struct DeviceSamples {
  std::string device = {};       ///< as its driver names it
  std::string measured_on = {};  ///< date
  std::vector<TilesSample> tiles = {};
  std::vector<CsrSample> csr = {};
};

/// A JSON object a line: what the samples are of, then one sample each.
std::string device_samples_to_json_lines(const DeviceSamples& samples);
/// Throws InputError with `path` and the line when the text is not that, or lacks one of what rates are for:
/// tile-messages, CSR with one vector, CSR with several.
DeviceSamples device_samples_from_json_lines(const std::string& text, const std::string& path);

}  // namespace tessera
