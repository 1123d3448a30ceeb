// Checks of what a cache file holds, beyond its header: checksums, order and range of every element. Threads
// and ranks share the work by pieces.
#pragma once
#include <string>
#include <string_view>

#include "engine/io/cache_header.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// `file` is all of the file, `header` has passed read_cache_header. Every rank checks its share of pieces;
/// throws the same InputError, naming the section, on every rank. Collective.
void validate_cache(std::string_view file, const CacheHeader& header, const std::string& path,
                    Communicator& comm);

}  // namespace tessera
