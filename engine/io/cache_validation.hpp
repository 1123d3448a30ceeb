// Checks of what a cache file holds, beyond its header: checksums, order and range of every element. Threads
// and ranks share the work by pieces.
#pragma once
#include <string>
#include <string_view>

#include "engine/io/cache_header.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// The block of rows [first, last) that a rank will use. In rank order they are all rows.
struct CacheRows {
  std::uint64_t first = 0, last = 0;
};

/// `file` is all of this rank's copy of the file, `header` has passed read_cache_header and is the same on
/// all ranks. Every rank checks the pieces that hold something of its rows; throws the same InputError,
/// naming the section, on every rank. Collective.
void validate_cache(std::string_view file, const CacheHeader& header, const CacheRows& rows,
                    const std::string& path, Communicator& comm);

}  // namespace tessera
