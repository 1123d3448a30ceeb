// Memory of this process and of the machine.
#pragma once
#include <cstdint>
#include <string>

#include "partition/communicator.hpp"

namespace tessera::cli {

std::uint64_t peak_memory_bytes();  ///< largest resident size so far

/// What this process may still take: the least of the machine's available memory, its cgroup's limit and
/// its address space limit, without swap.
std::uint64_t available_memory_bytes();

/// From now on check_memory() lets everything pass (--no-memory-check).
void skip_memory_checks();

/// Throws the same ResourceError on all ranks when some rank has less than `needed_bytes`, with both
/// numbers. `what`: "packing the matrix"; `remedy`: "a smaller graph", what the user may take. Collective.
/// Processes of one machine get equal shares.
void check_memory(std::uint64_t needed_bytes, const char* what, const std::string& remedy,
                  Communicator& comm);

}  // namespace tessera::cli
