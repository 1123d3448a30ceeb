// Builds the tile-messages form with Thrust: byte for byte what engine/tile_messages_builder.cpp builds.
// Written for any memory; the host is where it is tested without a device. Sorting does the work: elements by
// (row, tile), messages by (bin, tile, length), rows by messages.
#pragma once
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/message_cutter.cuh"
#include "kernels/slice_builder.hpp"
#include "kernels/tile_messages.hpp"

namespace tessera::cuda {

/// Sort key of a message: bin, tile, length (longest first). Its upper part names the cell: a tile's messages
/// for a bin, neighbours in what the tile sends and the bin receives.
struct MessageKey {
  static constexpr unsigned kTileShift = 16, kBinShift = 37;
  __host__ __device__ static std::uint64_t of(std::uint64_t bin, std::uint64_t tile, std::uint32_t length) {
    return bin << kBinShift | tile << kTileShift | (65535 - length);
  }
  __host__ __device__ static std::uint64_t cell(std::uint64_t key) { return key >> kTileShift; }
  __host__ __device__ static std::uint64_t bin(std::uint64_t key) { return key >> kBinShift; }
  __host__ __device__ static std::uint64_t tile(std::uint64_t key) {
    return key >> kTileShift & ((std::uint64_t{1} << (kBinShift - kTileShift)) - 1);
  }
};

template <class Memory, class S>
struct MessagesBuild {
  template <class T>
  using Vector = typename Memory::template Vector<T>;

  struct SlicePassVectors {
    Vector<Window> windows;
    Vector<Slice> slices;
    Vector<std::uint32_t> words;
    Vector<S> values;
  };
  explicit MessagesBuild(const MessagesBuildInput& input)
      : in_(input), messages_(MessageCutter<Memory, S>(input).run()) {}

  TileMessages<S> run() {
    make_bins();
    sort_messages();
    build_tiles();
    build_bins();
    finish();
    return std::move(result_);
  }

  /// Windows of pass 2, on the host: bins are few.
  void make_bins() {
    const std::uint64_t num_rows = in_.rows.size();
    row_first_.resize(num_rows + 1);
    thrust::lower_bound(messages_.rows.begin(), messages_.rows.end(), thrust::counting_iterator<VertexId>(0),
                        thrust::counting_iterator<VertexId>(static_cast<VertexId>(num_rows + 1)),
                        row_first_.begin());
    const thrust::host_vector<std::uint32_t> before = row_first_;
    const std::vector<std::uint64_t> first_row = cut_bins({before.data(), before.size()}, in_.bins);
    std::vector<std::uint32_t> first_message;
    std::uint64_t next = 0;
    for (std::size_t b = 0; b + 1 < first_row.size(); ++b) {
      first_message.push_back(before[first_row[b]]);
      const std::uint32_t size = before[first_row[b + 1]] - first_message[b];
      bin_windows_.push_back({.first_in = next, .size = size});
      next += (size + kBinAlignment - 1) / kBinAlignment * kBinAlignment;
    }
    first_message.push_back(before.back());
    if (next > kNoVertex) throw ResourceError("the matrix needs more than 2^32 messages; use more ranks");
    bin_windows_.push_back({});
    result_.num_messages = next;
    bin_rows_.assign(first_row.begin(), first_row.end());
    bin_messages_.assign(first_message.begin(), first_message.end());
  }

  void sort_messages() {
    const std::uint64_t count = messages_.rows.size();
    keys_.resize(count);
    order_.resize(count);
    const std::uint64_t num_bins = bin_rows_.size() - 1;
    const std::uint32_t* first_row = Memory::raw(bin_rows_);
    const VertexId* row = Memory::raw(messages_.rows);
    const std::uint32_t* tile = Memory::raw(messages_.tiles);
    const std::uint16_t* length = Memory::raw(messages_.lengths);
    std::uint64_t* key = Memory::raw(keys_);
    Memory::each(count, [=] __host__ __device__(std::uint64_t m) {
      key[m] = MessageKey::of(last_not_above(first_row, num_bins, row[m]), tile[m], length[m]);
    });
    Memory::release(messages_.tiles);  // the keys have them
    thrust::sequence(order_.begin(), order_.end());
    thrust::stable_sort_by_key(keys_.begin(), keys_.end(), order_.begin());
  }

  /// Slices of groups of rows, one thread a group. Rows [first[g], first[g + 1]) of a list; length(i) of its
  /// i-th row; out(g): where the group's first sum goes. Gives the slices and, for each row of the list, its
  /// slice.
  template <class Length, class Out>
  static std::uint64_t cut_slices(std::uint64_t num_groups, const std::uint64_t* first, Length length,
                                  Out out, Vector<Slice>& slices, Vector<std::uint64_t>& slice_first,
                                  Vector<std::uint32_t>& slice_of) {
    slice_first.assign(num_groups + 1, 0);
    Vector<std::uint64_t> word_first(num_groups + 1, 0);
    std::uint64_t *slices_before = Memory::raw(slice_first), *words_before = Memory::raw(word_first);
    Memory::each(num_groups, [=] __host__ __device__(std::uint64_t g) {
      std::uint64_t words = 0, count = 0;
      each_slice(
          first[g + 1] - first[g], [=](std::uint64_t i) { return length(first[g] + i); }, 0, words,
          [&](const Slice&, std::uint64_t) { ++count; });
      slices_before[g + 1] = count;
      words_before[g + 1] = words;
    });
    thrust::inclusive_scan(slice_first.begin(), slice_first.end(), slice_first.begin());
    thrust::inclusive_scan(word_first.begin(), word_first.end(), word_first.begin());
    slices.resize(slice_first.back());
    Slice* slice = Memory::raw(slices);
    std::uint32_t* of_row = Memory::raw(slice_of);
    Memory::each(num_groups, [=] __host__ __device__(std::uint64_t g) {
      std::uint64_t words = words_before[g], next = slices_before[g];
      each_slice(
          first[g + 1] - first[g], [=](std::uint64_t i) { return length(first[g] + i); }, out(g), words,
          [&](const Slice& s, std::uint64_t row) {
            for (std::uint32_t r = 0; r < rows_of(s); ++r)
              of_row[first[g] + row + r] = static_cast<std::uint32_t>(next);
            slice[next++] = s;
          });
    });
    return word_first.back();
  }

  /// Cells, tile by tile.
  struct Cells {
    Vector<std::uint64_t> keys;    ///< (tile, bin)
    Vector<std::uint64_t> begins;  ///< into the sorted messages
    Vector<std::uint64_t> firsts;  ///< messages of the cells before, and of all
  };
  Cells find_cells() {
    const std::uint64_t count = keys_.size(), *key = Memory::raw(keys_);
    Vector<std::uint64_t> begins(count + 1);
    const auto found = thrust::copy_if(
        thrust::counting_iterator<std::uint64_t>(0), thrust::counting_iterator<std::uint64_t>(count),
        begins.begin(), [=] __host__ __device__(std::uint64_t j) {
          return j == 0 || MessageKey::cell(key[j]) != MessageKey::cell(key[j - 1]);
        });
    const auto num_cells = static_cast<std::uint64_t>(found - begins.begin());
    begins.resize(num_cells + 1);
    begins[num_cells] = count;
    Cells cells{Vector<std::uint64_t>(num_cells), Vector<std::uint64_t>(num_cells),
                Vector<std::uint64_t>(num_cells + 1, 0)};
    Vector<std::uint32_t> order(num_cells);
    std::uint64_t *cell_key = Memory::raw(cells.keys), *begin = Memory::raw(begins);
    Memory::each(num_cells, [=] __host__ __device__(std::uint64_t c) {
      cell_key[c] = MessageKey::tile(key[begin[c]]) << 32 | MessageKey::bin(key[begin[c]]);
    });
    thrust::sequence(order.begin(), order.end());
    thrust::sort_by_key(cells.keys.begin(), cells.keys.end(), order.begin());
    const std::uint32_t* old = Memory::raw(order);
    std::uint64_t *new_begin = Memory::raw(cells.begins), *first = Memory::raw(cells.firsts);
    Memory::each(num_cells, [=] __host__ __device__(std::uint64_t c) {
      new_begin[c] = begin[old[c]];
      first[c + 1] = begin[old[c] + 1] - begin[old[c]];
    });
    thrust::inclusive_scan(cells.firsts.begin(), cells.firsts.end(), cells.firsts.begin());
    return cells;
  }

  /// The sorted messages in the order of tiles: the list that slices are cut of.
  Vector<std::uint32_t> list_by_tile(Cells& cells) {
    Vector<std::uint32_t> listed(keys_.size());
    const std::uint64_t num_cells = cells.keys.size(), *first = Memory::raw(cells.firsts),
                        *begin = Memory::raw(cells.begins);
    std::uint32_t* list = Memory::raw(listed);
    Memory::each(listed.size(), [=] __host__ __device__(std::uint64_t i) {
      const std::uint64_t c = last_not_above(first, num_cells, i);
      list[i] = static_cast<std::uint32_t>(begin[c] + (i - first[c]));
    });
    return listed;
  }

  /// Where a sorted message lies in memory.
  struct Position {
    const std::uint64_t* key;
    const Window* bin;
    const std::uint32_t* bin_first;
    __host__ __device__ std::uint64_t operator()(std::uint64_t j) const {
      const std::uint64_t b = MessageKey::bin(key[j]);
      return bin[b].first_in + (j - bin_first[b]);
    }
  };

  void build_tiles() {
    Cells cells = find_cells();
    Vector<std::uint32_t> listed = list_by_tile(cells), slice_of(listed.size());
    Vector<Window> bins(bin_windows_.begin(), bin_windows_.end());
    const Position position{Memory::raw(keys_), Memory::raw(bins), Memory::raw(bin_messages_)};
    const std::uint64_t* begin = Memory::raw(cells.begins);
    const std::uint32_t *list = Memory::raw(listed), *order = Memory::raw(order_);
    const std::uint16_t* length = Memory::raw(messages_.lengths);
    const std::uint64_t num_words = cut_slices(
        cells.keys.size(), Memory::raw(cells.firsts),
        [=] __host__ __device__(std::uint64_t i) { return std::uint32_t{length[order[list[i]]]}; },
        [=] __host__ __device__(std::uint64_t c) { return position(begin[c]); }, tile_pass_.slices,
        slice_first_, slice_of);
    set_tile_windows(cells.keys, in_.tiles.size());
    tile_pass_.words.assign(num_words, 0);
    if (!messages_.values.empty()) tile_pass_.values.assign(2 * num_words, S{0});
    fill_tiles(list, Memory::raw(slice_of), position);
    Memory::release(messages_.offsets);
    Memory::release(messages_.values);
    Memory::release(messages_.lengths);
    Memory::release(messages_.firsts);
  }

  void fill_tiles(const std::uint32_t* list, const std::uint32_t* slice_of, Position position) {
    SlicePassVectors& pass = tile_pass_;
    const Slice* slice = Memory::raw(pass.slices);
    const Window* window = Memory::raw(pass.windows);
    const std::uint32_t* order = Memory::raw(order_);
    const std::uint16_t* length = Memory::raw(messages_.lengths);
    const std::uint64_t *from = Memory::raw(messages_.firsts), *key = Memory::raw(keys_);
    const std::uint16_t* offset = Memory::raw(messages_.offsets);
    const S* value = messages_.values.empty() ? nullptr : Memory::raw(messages_.values);
    std::uint32_t* words = Memory::raw(pass.words);
    S* to_values = pass.values.empty() ? nullptr : Memory::raw(pass.values);
    Memory::each(keys_.size(), [=] __host__ __device__(std::uint64_t i) {
      const std::uint32_t j = list[i], m = order[j];
      const Slice s = slice[slice_of[i]];
      const auto row = static_cast<std::uint32_t>(position(j) - s.first_out);
      fill_slice_row(
          s, row, length[m], window[MessageKey::tile(key[j])].size,
          [=](std::uint32_t k) { return offset[from[m] + k]; }, words);
      if (to_values == nullptr) return;
      for (std::uint32_t k = 0; k < length[m]; ++k) {
        const ElementPlace to = element_place(s, row, k);
        to_values[2 * to.word + to.half] = value[from[m] + k];
      }
    });
  }

  /// cell_keys: (tile, bin), ascending.
  void set_tile_windows(Vector<std::uint64_t>& cell_keys, std::uint64_t num_tiles) {
    std::vector<std::uint64_t> wanted;
    for (std::uint64_t t = 0; t <= num_tiles; ++t) wanted.push_back(t << 32);
    Vector<std::uint64_t> targets(wanted.begin(), wanted.end()), cells(wanted.size()), slices(wanted.size());
    thrust::lower_bound(cell_keys.begin(), cell_keys.end(), targets.begin(), targets.end(), cells.begin());
    thrust::gather(cells.begin(), cells.end(), slice_first_.begin(), slices.begin());
    const thrust::host_vector<std::uint64_t> first = slices;
    std::vector<Window> windows;
    for (std::uint64_t t = 0; t < num_tiles; ++t)
      windows.push_back({.first_in = in_.tiles[t].first_slot,
                         .first_slice = first[t],
                         .size = static_cast<std::uint32_t>(in_.tiles[t].num_columns)});
    windows.push_back({.first_slice = first[num_tiles]});
    tile_pass_.windows = Vector<Window>(windows.begin(), windows.end());
  }

  /// Places in their bin of every row's messages, row after row, in order of position.
  Vector<std::uint16_t> list_places() {
    const std::uint64_t count = keys_.size(), *key = Memory::raw(keys_);
    Vector<VertexId> row_keys(count);
    Vector<std::uint16_t> places(count);
    thrust::gather(order_.begin(), order_.end(), messages_.rows.begin(), row_keys.begin());
    Memory::release(order_);
    const std::uint32_t* bin_first = Memory::raw(bin_messages_);
    std::uint16_t* place = Memory::raw(places);
    Memory::each(count, [=] __host__ __device__(std::uint64_t j) {
      place[j] = static_cast<std::uint16_t>(j - bin_first[MessageKey::bin(key[j])]);
    });
    Memory::release(keys_);
    thrust::stable_sort_by_key(row_keys.begin(), row_keys.end(), places.begin());
    return places;
  }

  /// Rows with messages, by bin, most messages first; firsts: the first of each bin, and the end.
  Vector<VertexId> rank_rows(Vector<std::uint64_t>& firsts) {
    const std::uint64_t num_bins = bin_rows_.size() - 1;
    const std::uint32_t *first_row = Memory::raw(bin_rows_), *row_first = Memory::raw(row_first_);
    Vector<VertexId> ranked(in_.rows.size());
    const auto end = thrust::copy_if(
        thrust::counting_iterator<VertexId>(0),
        thrust::counting_iterator<VertexId>(static_cast<VertexId>(in_.rows.size())), ranked.begin(),
        [=] __host__ __device__(VertexId row) { return row_first[row + 1] > row_first[row]; });
    ranked.resize(static_cast<std::size_t>(end - ranked.begin()));
    Vector<std::uint64_t> keys(ranked.size()), targets(num_bins + 1);
    const VertexId* row = Memory::raw(ranked);
    std::uint64_t *key = Memory::raw(keys), *target = Memory::raw(targets);
    Memory::each(ranked.size(), [=] __host__ __device__(std::uint64_t i) {
      key[i] = last_not_above(first_row, num_bins, row[i]) << 32 |
               (0xffffffffu - (row_first[row[i] + 1] - row_first[row[i]]));
    });
    thrust::stable_sort_by_key(keys.begin(), keys.end(), ranked.begin());
    Memory::each(num_bins + 1, [=] __host__ __device__(std::uint64_t b) { target[b] = b << 32; });
    firsts.resize(num_bins + 1);
    thrust::lower_bound(keys.begin(), keys.end(), targets.begin(), targets.end(), firsts.begin());
    return ranked;
  }

  void build_bins() {
    Vector<std::uint64_t> firsts;
    Vector<std::uint16_t> places = list_places();
    Vector<VertexId> ranked = rank_rows(firsts);
    Vector<std::uint32_t> slice_of(ranked.size());
    const VertexId* row = Memory::raw(ranked);
    const std::uint32_t* row_first = Memory::raw(row_first_);
    const std::uint64_t *first = Memory::raw(firsts), num_bins = bin_rows_.size() - 1;
    const std::uint64_t num_words = cut_slices(
        num_bins, first,
        [=] __host__ __device__(std::uint64_t i) { return row_first[row[i] + 1] - row_first[row[i]]; },
        [=] __host__ __device__(std::uint64_t b) { return first[b]; }, bin_pass_.slices, slice_first_,
        slice_of);
    const thrust::host_vector<std::uint64_t> slices_before = slice_first_;
    for (std::size_t b = 0; b < bin_windows_.size(); ++b) bin_windows_[b].first_slice = slices_before[b];
    bin_pass_.windows = Vector<Window>(bin_windows_.begin(), bin_windows_.end());
    bin_pass_.words.assign(num_words, 0);
    const Window* window = Memory::raw(bin_pass_.windows);
    Slice* slice = Memory::raw(bin_pass_.slices);
    const std::uint32_t *of_row = Memory::raw(slice_of), *first_row = Memory::raw(bin_rows_);
    const std::uint16_t* place = Memory::raw(places);
    std::uint32_t* words = Memory::raw(bin_pass_.words);
    result_.num_products = ranked.size();
    row_positions_.assign(in_.rows.size(), kNoVertex);
    VertexId* position = Memory::raw(row_positions_);
    Memory::each(ranked.size(), [=] __host__ __device__(std::uint64_t i) {
      const Slice s = slice[of_row[i]];
      const auto r = static_cast<std::uint32_t>(i - s.first_out);
      const std::uint32_t begin = row_first[row[i]], messages = row_first[row[i] + 1] - begin;
      position[row[i]] = static_cast<VertexId>(i);
      fill_slice_row(
          s, r, messages, window[last_not_above(first_row, num_bins, row[i])].size,
          [=](std::uint32_t k) { return place[begin + k]; }, words);
    });
  }

  static SlicePass<S> as_pass(SlicePassVectors&& pass) {
    SlicePass<S> result;
    result.windows = Memory::as_buffer(std::move(pass.windows));
    result.slices = Memory::as_buffer(std::move(pass.slices));
    result.words = Memory::as_buffer(std::move(pass.words));
    result.values = Memory::as_buffer(std::move(pass.values));
    return result;
  }

  void finish() {
    result_.num_rows = in_.rows.size();
    result_.num_slots = in_.num_slots;
    result_.stats.num_nonzeros = messages_.num_elements;
    result_.stats.num_row_pieces = messages_.rows.size();
    result_.tiles = as_pass(std::move(tile_pass_));
    result_.bins = as_pass(std::move(bin_pass_));
    result_.row_positions = Memory::as_buffer(std::move(row_positions_));
    result_.stats.num_stored = 2 * result_.tiles.words.size();
    result_.stats.bytes = result_.tiles.bytes() + result_.bins.bytes() + result_.row_positions.size_bytes();
    result_.stats.num_tiles = in_.tiles.size();
    result_.stats.num_workloads = result_.tiles.slices.size() + result_.bins.slices.size();
    if (in_.parts.empty()) return;
    result_.tiles.parts = Memory::as_buffer(Vector<WindowPart>(in_.parts.begin(), in_.parts.end()));
    result_.tiles.num_parts = static_cast<std::uint32_t>(in_.parts.size() / in_.tiles.size());
  }

  const MessagesBuildInput& in_;
  CutMessages<Memory, S> messages_;                // by row and tile
  Vector<std::uint32_t> row_first_;                // messages before each row
  Vector<std::uint32_t> bin_rows_, bin_messages_;  // first row and first message of each bin, and the ends
  std::vector<Window> bin_windows_;
  Vector<std::uint64_t> keys_;   // bin, tile, length of the sorted messages
  Vector<std::uint32_t> order_;  // which message that is
  Vector<std::uint64_t> slice_first_;
  SlicePassVectors tile_pass_, bin_pass_;
  Vector<VertexId> row_positions_;
  TileMessages<S> result_;
};

}  // namespace tessera::cuda
