// Compares two builds of the tile-messages form, byte for byte.
#pragma once
#include <gtest/gtest.h>

#include <vector>

#include "kernels/cuda/device_memory.hpp"
#include "kernels/tile_messages.hpp"

namespace tessera::test {

template <class T>
std::vector<T> host_copy(const Buffer<T>& buffer, bool on_device) {
  const Buffer<T> copy = on_device ? cuda::on_host(buffer) : buffer.clone();
  return {copy.begin(), copy.end()};
}

inline std::vector<std::uint64_t> fields(const std::vector<Slice>& slices) {
  std::vector<std::uint64_t> all;
  for (const Slice& s : slices) all.insert(all.end(), {s.first_word, s.first_out, s.num_words, s.num_rows});
  return all;
}
inline std::vector<std::uint64_t> fields(const std::vector<Window>& windows) {
  std::vector<std::uint64_t> all;
  for (const Window& w : windows) all.insert(all.end(), {w.first_in, w.first_slice, w.size});
  return all;
}

template <class S>
void expect_same_pass(const SlicePass<S>& found, const SlicePass<S>& expected, bool on_device) {
  EXPECT_EQ(fields(host_copy(found.windows, on_device)), fields(host_copy(expected.windows, false)));
  EXPECT_EQ(fields(host_copy(found.slices, on_device)), fields(host_copy(expected.slices, false)));
  EXPECT_EQ(host_copy(found.words, on_device), host_copy(expected.words, false));
  EXPECT_EQ(host_copy(found.values, on_device), host_copy(expected.values, false));
}

template <class S>
void expect_same(const TileMessages<S>& found, const TileMessages<S>& expected, bool on_device) {
  EXPECT_EQ(found.num_rows, expected.num_rows);
  EXPECT_EQ(found.num_slots, expected.num_slots);
  EXPECT_EQ(found.num_messages, expected.num_messages);
  EXPECT_EQ(found.stats.num_nonzeros, expected.stats.num_nonzeros);
  EXPECT_EQ(found.stats.num_row_pieces, expected.stats.num_row_pieces);
  EXPECT_EQ(found.stats.bytes, expected.stats.bytes);
  EXPECT_EQ(found.num_products, expected.num_products);
  EXPECT_EQ(host_copy(found.row_positions, on_device), host_copy(expected.row_positions, false));
  expect_same_pass(found.tiles, expected.tiles, on_device);
  expect_same_pass(found.bins, expected.bins, on_device);
}

}  // namespace tessera::test
