// Positions in an array of elements, of which there may be more than 32 bits number, in as few bytes as they
// need.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/build_memory.cuh"

namespace tessera::cuda {

/// Of each position the lower 32 bits and, unless that is null, the next 8.
template <class Low, class High>
struct PositionsView {
  Low* low;
  High* high;

  __host__ __device__ std::uint64_t load(std::uint64_t i) const {
    return high == nullptr ? low[i] : std::uint64_t{high[i]} << 32 | low[i];
  }
  __host__ __device__ void store(std::uint64_t i, std::uint64_t position) const {
    low[i] = static_cast<std::uint32_t>(position);
    if (high != nullptr) high[i] = static_cast<std::uint8_t>(position >> 32);
  }
};
using PositionsStore = PositionsView<std::uint32_t, std::uint8_t>;
using PositionsLoad = PositionsView<const std::uint32_t, const std::uint8_t>;

/// `size` positions below num_elements < 2^40, uninitialised.
template <class Memory>
class ElementPositions {
 public:
  ElementPositions() = default;
  ElementPositions(std::uint64_t size, std::uint64_t num_elements)
      : low_(size), high_(num_elements <= std::uint64_t{1} << 32 ? 0 : size) {
    require(num_elements < std::uint64_t{1} << 40, "positions have 40 bits");
  }
  /// One after the other, all with or all without upper bits; the parts are freed.
  static ElementPositions joined(std::vector<ElementPositions>& parts) {
    std::vector<BuildVector<Memory, std::uint32_t>> lows;
    std::vector<BuildVector<Memory, std::uint8_t>> highs;
    for (ElementPositions& part : parts) {
      lows.push_back(std::move(part.low_));
      highs.push_back(std::move(part.high_));
    }
    parts.clear();
    ElementPositions all;
    all.low_ = Memory::joined(lows);
    all.high_ = Memory::joined(highs);
    return all;
  }

  std::uint64_t size() const { return low_.size(); }
  void truncate(std::uint64_t size) {
    low_.truncate(size);
    if (!high_.empty()) high_.truncate(size);
  }
  PositionsStore to_store() { return {low_.data(), high_.data()}; }
  PositionsLoad to_load() const { return {low_.data(), high_.data()}; }

 private:
  BuildVector<Memory, std::uint32_t> low_;
  BuildVector<Memory, std::uint8_t> high_;
};

}  // namespace tessera::cuda
