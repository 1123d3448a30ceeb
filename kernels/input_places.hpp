// Where inputs of a product go, for host and device.
#pragma once
#include <cstdint>

#include "kernels/base/buffer.hpp"
#include "kernels/column_slots.hpp"

namespace tessera {

/// Inputs 0 to count - 1, in local order: to the slots of their columns, where all columns are this rank's
/// and local order is theirs, or else to places that are listed.
struct InputPlaces {
  std::uint64_t count = 0;
  ColumnSlots slots = {};
  const VertexId* listed = nullptr;  ///< memory of the backend

  static InputPlaces listed_in(const Buffer<VertexId>& places) {
    return {.count = places.size(), .listed = places.data()};
  }
  /// Of input i.
  TESSERA_HD VertexId place_of(std::uint64_t i) const {
    return listed == nullptr ? slots.slot_of(static_cast<VertexId>(i)) : listed[i];
  }
};

}  // namespace tessera
