// Owning storage of the tile-messages form (kernels/tile_messages_view.hpp). Built by engine/ on the host;
// that build is the definition.
#pragma once
#include "kernels/base/buffer.hpp"
#include "kernels/tile_composite.hpp"
#include "kernels/tile_messages_view.hpp"

namespace tessera {

template <class S>
struct SlicePass {
  Buffer<Window> windows;
  Buffer<Slice> slices;
  Buffer<std::uint32_t> words;
  Buffer<S> values;
  Buffer<WindowPart> parts;
  std::uint32_t num_parts = 1;

  std::uint64_t num_windows() const { return windows.empty() ? 0 : windows.size() - 1; }
  std::uint64_t bytes() const {
    return windows.size_bytes() + slices.size_bytes() + words.size_bytes() + values.size_bytes() +
           parts.size_bytes();
  }
  SlicePassView<S> view() const {
    return {windows.data(),
            num_windows(),
            slices.data(),
            words.data(),
            values.empty() ? nullptr : values.data(),
            parts.empty() ? nullptr : parts.data(),
            num_parts};
  }
};

template <class S>
struct TileMessages {
  std::uint64_t num_rows = 0, num_slots = 0, num_messages = 0, num_products = 0;
  SlicePass<S> tiles, bins;
  Buffer<VertexId> row_positions;
  PackingStats stats;

  TileMessagesView<S> view() const {
    return {num_rows, num_slots, num_messages, num_products, row_positions.data(), tiles.view(), bins.view()};
  }
};

}  // namespace tessera
