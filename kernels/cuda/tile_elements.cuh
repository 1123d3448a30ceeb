// What is known of elements while they are grouped by tile.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/base/types.hpp"
#include "kernels/cuda/build_memory.cuh"

namespace tessera::cuda {

/// A key: tile, offset of 16 bits in it.
inline constexpr unsigned kTileShift = 16;
__host__ __device__ inline std::uint32_t key_of_slot(VertexId slot, std::uint32_t tile_stride) {
  const std::uint32_t tile = slot / tile_stride;
  return tile << kTileShift | (slot - tile * tile_stride);
}

/// The same for slots below 2^31, with a multiplication for the division: with s = floor(log2(stride - 1)),
/// so that stride <= 2^(s + 1), the factor times stride is less than stride above 2^(32 + s).
class SlotKeys {
 public:
  explicit SlotKeys(std::uint32_t tile_stride)  ///< 2 to 65,536
      : stride_(tile_stride),
        shift_(static_cast<std::uint32_t>(std::bit_width(tile_stride - 1)) - 1),
        factor_(static_cast<std::uint32_t>(((std::uint64_t{1} << (32 + shift_)) + tile_stride - 1) /
                                           tile_stride)) {}

  __host__ __device__ std::uint32_t key(VertexId slot) const {
    const auto tile = static_cast<std::uint32_t>(std::uint64_t{slot} * factor_ >> 32) >> shift_;
    return tile << kTileShift | (slot - tile * stride_);
  }

 private:
  std::uint32_t stride_, shift_, factor_;
};

/// Offsets that are loaded together, 8 bytes. An array of them has room for what is loaded with the last
/// ones; whoever writes offsets clears that.
inline constexpr unsigned kOffsetsAtOnce = 4;
template <class Memory>
BuildVector<Memory, std::uint16_t> offsets_with_room(std::uint64_t size) {
  BuildVector<Memory, std::uint16_t> offsets(round_up<std::uint64_t>(size, kOffsetsAtOnce));
  offsets.truncate(size);
  return offsets;
}
__host__ __device__ inline void clear_behind(std::uint16_t* offsets, std::uint64_t size) {
  for (; size % kOffsetsAtOnce != 0; ++size) offsets[size] = 0;
}

/// What is sorted with a key: an element's row, and its value where it has one. Sorts move all its bytes, so
/// it has no padding.
template <class S>
struct RowValue {
  std::conditional_t<sizeof(S) == 8, std::uint64_t, VertexId> row;
  S value;
};
template <class P>
struct KeyedElement {
  std::uint32_t key;
  P payload;
};
__host__ __device__ inline VertexId row_of(VertexId row) { return row; }
template <class S>
__host__ __device__ VertexId row_of(const RowValue<S>& element) {
  return static_cast<VertexId>(element.row);
}
template <class S>
__host__ __device__ void set_element(VertexId& element, VertexId row, const S*, std::uint64_t) {
  element = row;
}
template <class S>
__host__ __device__ void set_element(RowValue<S>& element, VertexId row, const S* values, std::uint64_t at) {
  element = {row, values[at]};
}
template <class S>
__host__ __device__ void set_value(S*, std::uint64_t, VertexId) {}
template <class S>
__host__ __device__ void set_value(S* values, std::uint64_t at, const RowValue<S>& element) {
  values[at] = element.value;
}

/// Elements sorted with their keys, and where what stays of them goes.
template <class P, class S>
struct SortedElement {
  const std::uint32_t* keys;
  const P* payload;
  std::uint16_t* offsets;
  S* values;

  __host__ __device__ std::uint32_t tile(std::uint64_t e) const { return keys[e] >> kTileShift; }
  __host__ __device__ VertexId row(std::uint64_t e) const { return row_of(payload[e]); }
  __host__ __device__ bool begins_piece(std::uint64_t e) const {
    const std::uint64_t before = e == 0 ? 0 : e - 1;
    return (tile(e) != tile(before)) | (row(e) != row(before));
  }
  __host__ __device__ void keep(std::uint64_t e) const {
    offsets[e] = static_cast<std::uint16_t>(keys[e]);
    set_value(values, e, payload[e]);
  }
};

}  // namespace tessera::cuda
