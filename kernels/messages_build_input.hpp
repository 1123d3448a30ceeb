// What a device needs to build the tile-messages form itself: what engine/tile_messages_builder.hpp takes, in
// host memory.
#pragma once
#include <span>

#include "kernels/csr_view.hpp"
#include "kernels/directions.hpp"
#include "kernels/message_bins.hpp"
#include "kernels/tile_composite_view.hpp"
#include "kernels/tile_messages_view.hpp"

namespace tessera {

/// How the form is cut, apart from its elements.
struct MessagesShape {
  std::uint64_t num_rows = 0;
  std::uint64_t num_slots = 0;  ///< length of x
  std::span<const Tile> tiles;  ///< narrow; tile t begins at slot t * tile_stride
  std::uint64_t tile_stride = 0;
  BinLimits bins;
  std::span<const WindowPart> parts;  ///< as in build_tile_messages
};

/// How rows go to the device: all as they lie in host memory, which is soonest but takes room for all of them
/// there, or some at a time in the order of the result.
enum class RowSending { automatic, as_they_lie, in_order };

struct MessagesBuildInput {
  CsrView<double> csr;  ///< columns: vertex ids
  /// Which elements of csr the matrix has. Others than these are made where all go as they lie, else
  /// NoRoomError.
  Directions directions = Directions::same;
  std::span<const VertexId> rows;            ///< row i of the result is row rows[i] of the matrix
  const VertexId* slot_of_column = nullptr;  ///< of all columns of the matrix
  MessagesShape shape;
  RowSending sending = RowSending::automatic;
  /// Cut at a time, but for longer rows; 0: of rows in order as many as take little memory, of rows as they
  /// lie as many as lose no time.
  std::uint64_t chunk_elements = 0;
};

}  // namespace tessera
