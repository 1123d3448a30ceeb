// First half of the build: the elements of all rows grouped by tile and cut into messages. Rows come in
// chunks, so that the edges are never all there in full width: what stays of an edge is its 16-bit offset
// (and value).
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/thrust_memory.cuh"
#include "kernels/messages_build_input.hpp"

namespace tessera::cuda {

/// Messages by row and tile.
template <class Memory, class S>
struct CutMessages {
  template <class T>
  using Vector = typename Memory::template Vector<T>;
  std::uint64_t num_elements = 0;
  Vector<std::uint16_t> offsets;  ///< of all elements, by row and tile
  Vector<S> values;
  Vector<VertexId> rows;
  Vector<std::uint32_t> tiles;
  Vector<std::uint16_t> lengths;
  Vector<std::uint64_t> firsts;  ///< into offsets
};

template <class Memory, class S>
struct MessageCutter {
  template <class T>
  using Vector = typename Memory::template Vector<T>;

  explicit MessageCutter(const MessagesBuildInput& input)
      : in_(input), slot_of_column_(input.slot_of_column, input.slot_of_column + input.csr.num_cols) {
    std::uint64_t num_elements = 0;
    for (const VertexId row : in_.rows) num_elements += length_of(row);
    out_.offsets.resize(num_elements);
    if (in_.csr.values != nullptr) out_.values.resize(num_elements);
    // About 30 bytes an element of a chunk, where the result has more than 2 for each of all elements.
    constexpr std::uint64_t kChunks = 16, kLeast = std::uint64_t{1} << 20, kMost = std::uint64_t{1} << 26;
    chunk_elements_ =
        in_.chunk_elements > 0 ? in_.chunk_elements : std::clamp(num_elements / kChunks, kLeast, kMost);
  }

  CutMessages<Memory, S> run() {
    for (std::uint64_t first = 0; first < in_.rows.size();) {
      std::uint64_t end = first, elements = 0;
      while (end < in_.rows.size() &&
             (end == first || elements + length_of(in_.rows[end]) <= chunk_elements_))
        elements += length_of(in_.rows[end++]);
      add_rows(first, end, elements);
      first = end;
    }
    out_.rows = Memory::joined(rows_);
    if (out_.rows.size() >= kNoVertex)
      throw ResourceError("the matrix needs more than 2^32 messages; use more ranks");
    out_.tiles = Memory::joined(tiles_);
    out_.lengths = Memory::joined(lengths_);
    out_.firsts = Memory::joined(firsts_);
    return std::move(out_);
  }

  std::uint64_t length_of(VertexId row) const {
    return in_.csr.row_offsets[row + 1] - in_.csr.row_offsets[row];
  }

  /// Groups the elements of rows [first, end) by tile and cuts them into messages.
  void add_rows(std::uint64_t first, std::uint64_t end, std::uint64_t num_elements) {
    std::vector<std::uint64_t> host_offsets{0};
    std::vector<VertexId> host_cols(num_elements);
    std::vector<S> host_values(in_.csr.values != nullptr ? num_elements : 0);
    for (std::uint64_t i = first; i < end; ++i)
      host_offsets.push_back(host_offsets.back() + length_of(in_.rows[i]));
#pragma omp parallel for schedule(dynamic, 1024)
    for (std::uint64_t i = first; i < end; ++i) {
      const EdgeOffset from = in_.csr.row_offsets[in_.rows[i]];
      for (std::uint64_t k = 0, to = host_offsets[i - first]; to + k < host_offsets[i - first + 1]; ++k) {
        host_cols[to + k] = in_.csr.col_indices[from + k];
        if (!host_values.empty()) host_values[to + k] = static_cast<S>(in_.csr.values[from + k]);
      }
    }
    Vector<std::uint64_t> row_offsets(host_offsets.begin(), host_offsets.end());
    Vector<VertexId> cols(host_cols.begin(), host_cols.end());
    Vector<std::uint64_t> keys(num_elements);
    Vector<std::uint16_t> offsets(num_elements);
    const auto num_rows = end - first;
    {
      const std::uint64_t* starts = Memory::raw(row_offsets);
      const VertexId *column = Memory::raw(cols), *slot_of = Memory::raw(slot_of_column_);
      std::uint64_t* key = Memory::raw(keys);
      std::uint16_t* offset = Memory::raw(offsets);
      const std::uint64_t stride = in_.tile_stride;
      Memory::each(num_elements, [=] __host__ __device__(std::uint64_t e) {
        const VertexId slot = slot_of[column[e]];
        key[e] = (first + last_not_above(starts, num_rows + 1, e)) << 32 | slot / stride;
        offset[e] = static_cast<std::uint16_t>(slot % stride);
      });
    }
    Memory::release(cols);
    Vector<std::uint32_t> order(num_elements);
    thrust::sequence(order.begin(), order.end());
    thrust::stable_sort_by_key(keys.begin(), keys.end(), order.begin());
    const auto to = static_cast<std::ptrdiff_t>(out_.num_elements);
    thrust::gather(order.begin(), order.end(), offsets.begin(), out_.offsets.begin() + to);
    if (!host_values.empty()) {
      const Vector<S> values(host_values.begin(), host_values.end());
      thrust::gather(order.begin(), order.end(), values.begin(), out_.values.begin() + to);
    }
    Memory::release(order);
    Memory::release(offsets);
    cut_messages(keys, row_offsets, first);
    out_.num_elements += num_elements;
  }

  /// keys: (row, tile) of every element of the chunk, ascending.
  void cut_messages(const Vector<std::uint64_t>& keys, Vector<std::uint64_t>& row_offsets,
                    std::uint64_t first_row) {
    Vector<std::uint64_t> piece_keys(keys.size());
    Vector<std::uint32_t> lengths(keys.size());
    const auto ends =
        thrust::reduce_by_key(keys.begin(), keys.end(), thrust::constant_iterator<std::uint32_t>(1),
                              piece_keys.begin(), lengths.begin());
    const auto num_pieces = static_cast<std::uint64_t>(ends.first - piece_keys.begin());
    piece_keys.resize(num_pieces);
    lengths.resize(num_pieces);
    Vector<std::uint64_t> starts(num_pieces), places(num_pieces + 1, 0);
    thrust::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), out_.num_elements);
    const std::uint64_t *piece_key = Memory::raw(piece_keys), *start = Memory::raw(starts),
                        *row_start = Memory::raw(row_offsets);
    const std::uint32_t* length = Memory::raw(lengths);
    std::uint64_t* place = Memory::raw(places);
    const auto most_of = [=] __host__ __device__(std::uint64_t p) {
      const std::uint64_t row = (piece_key[p] >> 32) - first_row;
      return length[p] <= kMessageElements ? length[p]
                                           : elements_of_message(row_start[row + 1] - row_start[row]);
    };
    Memory::each(num_pieces, [=] __host__ __device__(std::uint64_t p) {
      place[p + 1] = (length[p] + most_of(p) - 1) / most_of(p);
    });
    thrust::inclusive_scan(places.begin(), places.end(), places.begin());
    const std::uint64_t count = places.back();
    Vector<VertexId> rows(count);
    Vector<std::uint32_t> tiles(count);
    Vector<std::uint16_t> message_lengths(count);
    Vector<std::uint64_t> firsts(count);
    VertexId* row = Memory::raw(rows);
    std::uint32_t* tile = Memory::raw(tiles);
    std::uint16_t* message_length = Memory::raw(message_lengths);
    std::uint64_t* first = Memory::raw(firsts);
    Memory::each(num_pieces, [=] __host__ __device__(std::uint64_t p) {
      const std::uint32_t most = most_of(p);
      std::uint64_t m = place[p];
      for (std::uint32_t k = 0; k < length[p]; k += most, ++m) {
        row[m] = static_cast<VertexId>(piece_key[p] >> 32);
        tile[m] = static_cast<std::uint32_t>(piece_key[p]);
        message_length[m] = static_cast<std::uint16_t>(length[p] - k < most ? length[p] - k : most);
        first[m] = start[p] + k;
      }
    });
    rows_.push_back(std::move(rows));
    tiles_.push_back(std::move(tiles));
    lengths_.push_back(std::move(message_lengths));
    firsts_.push_back(std::move(firsts));
  }

  const MessagesBuildInput& in_;
  std::uint64_t chunk_elements_ = 0;
  Vector<VertexId> slot_of_column_;
  // Of the messages of each chunk; joined at the end, one after the other, so that little lies there twice.
  std::vector<Vector<VertexId>> rows_;
  std::vector<Vector<std::uint32_t>> tiles_;
  std::vector<Vector<std::uint16_t>> lengths_;
  std::vector<Vector<std::uint64_t>> firsts_;
  CutMessages<Memory, S> out_;
};

}  // namespace tessera::cuda
