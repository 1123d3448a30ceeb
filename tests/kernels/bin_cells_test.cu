// Cells by bin, in host memory (and on a device where one answers), against sums one after the other.
#include "kernels/cuda/bin_cells.cuh"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

struct Listed {
  std::vector<std::uint32_t> ends_by_bin, places;
  bool operator==(const Listed&) const = default;
};

/// Messages of each cell, and where bins begin, with gaps between them.
struct Cells {
  std::uint32_t num_tiles, num_bins;
  std::vector<std::uint32_t> firsts{0};
  std::vector<BinEdge> edges;
  std::vector<Window> bins;

  Cells(std::uint32_t tiles, std::uint32_t of_bins, unsigned seed) : num_tiles(tiles), num_bins(of_bins) {
    std::mt19937 random(seed);
    for (std::uint32_t c = 0; c < tiles * of_bins; ++c)
      firsts.push_back(firsts.back() + (random() % 3 == 0 ? 0 : random() % 50));
    for (std::uint32_t bin = 0, before = 0, at = 0; bin < of_bins; ++bin) {
      edges.push_back({.messages_before = before});
      bins.push_back({.first_in = at});
      for (std::uint32_t tile = 0; tile < tiles; ++tile) before += size(tile, bin);
      at += before - edges.back().messages_before + random() % 32;
    }
  }
  std::uint32_t size(std::uint32_t tile, std::uint32_t bin) const {
    return firsts[tile * num_bins + bin + 1] - firsts[tile * num_bins + bin];
  }
  Listed expected() const {
    Listed listed{{}, std::vector<std::uint32_t>(std::size_t{num_tiles} * num_bins)};
    std::uint32_t messages = 0;
    for (std::uint32_t bin = 0; bin < num_bins; ++bin)
      for (std::uint32_t tile = 0, at = static_cast<std::uint32_t>(bins[bin].first_in); tile < num_tiles;
           at += size(tile++, bin)) {
        listed.places[tile * num_bins + bin] = at;
        listed.ends_by_bin.push_back(messages += size(tile, bin));
      }
    return listed;
  }
};

template <class Memory>
Listed listed_in(const Cells& cells) {
  const auto firsts = Memory::template from_host<std::uint32_t>(cells.firsts);
  const auto edges = Memory::template from_host<BinEdge>(cells.edges);
  const auto bins = Memory::template from_host<Window>(cells.bins);
  const std::size_t count = std::size_t{cells.num_tiles} * cells.num_bins;
  BuildVector<Memory, std::uint32_t> ends(count), places(count);
  list_cells<Memory>({cells.num_tiles, cells.num_bins, firsts.data(), edges.data(), bins.data(), ends.data(),
                      places.data()});
  return {Memory::to_host(ends.data(), count), Memory::to_host(places.data(), count)};
}

TEST(BinCells, ListsTilesOfEachBin) {
  for (const std::uint32_t tiles : {1u, 31u, 32u, 33u, 100u})
    for (const std::uint32_t bins : {1u, 7u, 8u, 9u, 50u}) {
      SCOPED_TRACE(std::to_string(tiles) + " tiles, " + std::to_string(bins) + " bins");
      const Cells cells(tiles, bins, tiles + bins);
      EXPECT_TRUE(listed_in<HostMemory>(cells) == cells.expected());
      if (num_devices() > 0) EXPECT_TRUE(listed_in<DeviceMemory>(cells) == cells.expected());
    }
}

}  // namespace
}  // namespace tessera::cuda
