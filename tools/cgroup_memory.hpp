// What the control group of this process still lets it take, as containers and batch systems set it.
#pragma once
#include <cstdint>
#include <string>

namespace tessera::cli {

/// By the files of version 2 of control groups, then of version 1, below `root` ("": the machine's). Page
/// cache that the group holds counts as free; where the group does not say how much that is, only
/// `own_bytes`, this process's own, count as taken. 2^64 - 1 where there is no limit.
std::uint64_t cgroup_available_bytes(const std::string& root, std::uint64_t own_bytes);

}  // namespace tessera::cli
