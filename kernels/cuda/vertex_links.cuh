// What the vertices of a graph have, what they are ordered by, and where they go.
#pragma once
#include <cstdint>

#include "kernels/base/types.hpp"
#include "kernels/column_slots.hpp"

namespace tessera::cuda {

/// What vertices are ordered by first: inputs, rows that are none, the rest. Columns of kLong elements or
/// more, few of a power-law graph, share a key, and all inputs do in the order as given.
struct OrderKey {
  static constexpr std::uint32_t kLong = 253, kRowAlone = 254, kRest = 255, kCount = 256;
  __host__ __device__ static std::uint32_t of(bool by_length, std::uint32_t column, std::uint32_t row) {
    if (column == 0) return row > 0 ? kRowAlone : kRest;
    return by_length && column < kLong ? kLong - column : 0;
  }
};

/// What a vertex has: elements of its column and of its row, and where the row begins.
struct VertexLinks {
  std::uint32_t column, row, row_begin;
};

/// The vertices of a graph, of fewer than 2^32 elements.
struct GivenVertices {
  std::uint64_t count, num_elements;  ///< num_elements: of all columns
  const std::uint32_t* column_lengths;
  const EdgeOffset* row_offsets;
  bool by_length;          ///< else in the order as given
  std::uint32_t* longest;  ///< found: of columns and of rows; 0 at first

  __host__ __device__ VertexLinks links(std::uint64_t v) const {
    const auto begin = static_cast<std::uint32_t>(row_offsets[v]);
    return {column_lengths[v], static_cast<std::uint32_t>(row_offsets[v + 1]) - begin, begin};
  }
  __host__ __device__ std::uint32_t key(const VertexLinks& links) const {
    return OrderKey::of(by_length, links.column, links.row);
  }
};

/// What a look at all vertices finds.
struct VertexFindings {
  std::uint32_t longest_column = 0, longest_row = 0;
  std::uint32_t num_long = 0;  ///< inputs that share the first key
  std::uint32_t num_inputs = 0;
  std::uint32_t num_linked = 0;  ///< inputs, and rows with elements
};

/// Where vertices in order go, and what each has.
struct PlacedVertices {
  ColumnSlots slot_of_input;
  VertexId *vertices, *slots;               ///< in order; and of each vertex, kNoVertex: it is no input
  std::uint32_t* column_lengths;            ///< in order, of inputs
  std::uint64_t *row_begins, *row_lengths;  ///< in order, of those with links

  __host__ __device__ void tell_slot(std::uint32_t place, VertexId vertex, const VertexLinks& links) const {
    slots[vertex] = links.column > 0 ? slot_of_input.slot_of(place) : kNoVertex;
  }
  __host__ __device__ void put(std::uint32_t place, VertexId vertex, const VertexLinks& links) const {
    vertices[place] = vertex;
    if (links.column > 0) column_lengths[place] = links.column;
    if (links.column == 0 && links.row == 0) return;
    row_begins[place] = links.row_begin;
    row_lengths[place] = links.row;
  }
  __host__ __device__ void put_in_order(const GivenVertices& given, std::uint32_t place,
                                        VertexId vertex) const {
    const VertexLinks links = given.links(vertex);
    tell_slot(place, vertex, links);
    put(place, vertex, links);
  }
};

}  // namespace tessera::cuda
