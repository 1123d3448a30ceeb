// What products cost on one model of GPU: the figures that engine/device_model.hpp predicts with. Measured by
// `tessera tune`, kept per model; those of an H200 ship with the program.
#pragma once
#include <array>
#include <cstddef>
#include <string>

#include "partition/communicator.hpp"

namespace tessera {

/// A part of a product takes the sum of its rates, each times how much there is of it.
template <std::size_t kSize>
using Rates = std::array<double, kSize>;

/// Pass 1 of tile-messages: the launch; each doubling of the longest row, up to some length; an element that
/// gathers 4 bytes, one that gathers 8; with values a byte of them, and an element of the longest row, as
/// long as one lane sums it; a byte of messages, of x; a cell (tile and bin) that has messages.
inline constexpr std::array kTilesRates = {
    "launch_seconds",       "row_doubling_seconds", "f32_element_seconds",
    "f64_element_seconds",  "value_byte_seconds",   "value_row_element_seconds",
    "message_byte_seconds", "input_byte_seconds",   "cell_seconds"};
/// Pass 2: the launch, a byte of messages, a message, a row.
inline constexpr std::array kBinsRates = {"launch_seconds", "message_byte_seconds", "message_seconds",
                                          "row_seconds"};
/// CSR: the launch; a first block of elements on every multiprocessor; each doubling of the longest row, as
/// long as it is not cut; rows that are; a gather adjacent to the row's own input, one near it, another one
/// from cache, from memory; a byte that streams; an element where threads wait for longer rows.
inline constexpr std::array kCsrRates = {
    "launch_seconds",        "first_blocks_seconds",    "row_doubling_seconds",
    "cut_rows_seconds",      "adjacent_gather_seconds", "near_gather_seconds",
    "cached_gather_seconds", "gather_seconds",          "byte_seconds",
    "uneven_element_seconds"};
/// CSR with a block of vectors: the launch; a chunk of a row, element by element; an element, where rows are
/// not added up in fours; a byte of x from cache, from memory; a byte that streams.
inline constexpr std::array kBlockRates = {"launch_seconds",      "chunk_seconds",       "element_seconds",
                                           "cached_byte_seconds", "gather_byte_seconds", "byte_seconds"};

struct DeviceRates {
  std::string device = {};       ///< as its driver names it
  std::string measured_on = {};  ///< date
  Rates<kTilesRates.size()> tiles = {};
  Rates<kBinsRates.size()> bins = {};
  Rates<kCsrRates.size()> csr = {};
  Rates<kBlockRates.size()> block = {};
};

/// Those shipped with the program (configs/gpu-default.table.json, built in).
const DeviceRates& default_device_rates();
/// Those that `tessera tune` has written for rank 0's GPU, else the default, also where there is no GPU.
/// Collective.
DeviceRates load_device_rates(Communicator& comm);
/// $XDG_CACHE_HOME/tessera/gpu-<model>-vN.table.json (or ~/.cache), for the GPU in use.
std::string device_rates_path();
std::string device_rates_to_json(const DeviceRates& rates);
/// Throws InputError naming `path` when the text is not a table of rates.
DeviceRates device_rates_from_json(const std::string& text, const std::string& path);

}  // namespace tessera
