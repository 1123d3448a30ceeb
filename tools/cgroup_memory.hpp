// What the control group of this process still lets it take, as containers and batch systems set it.
#pragma once
#include <cstdint>
#include <string>

namespace tessera::cli {

/// The least that a group of version 2 leaves, this process's or one that it lies in, or version 1's, by the
/// files below `root` ("": the machine's). Page cache that a group holds counts as free; where the group does
/// not say how much that is, only `own_bytes`, this process's own, count as taken. 2^64 - 1 where there is no
/// limit.
std::uint64_t cgroup_available_bytes(const std::string& root, std::uint64_t own_bytes);

}  // namespace tessera::cli
