#include "tools/cgroup_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

namespace tessera::cli {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : kUnlimited;  // "max" and a missing file: no limit
}

/// By a memory.stat: of version 1 the totals, which hold those of groups below.
std::optional<std::uint64_t> page_cache(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t own = 0, total = 0, value = 0;
  bool has_own = false, has_total = false;
  for (std::string key; file >> key >> value;) {
    const bool is_own = key == "active_file" || key == "inactive_file",
               is_total = key == "total_active_file" || key == "total_inactive_file";
    if (is_own) own += value;
    if (is_total) total += value;
    has_own = has_own || is_own;
    has_total = has_total || is_total;
  }
  if (has_total) return total;
  return has_own ? std::optional(own) : std::nullopt;
}

/// Where version 2 has this process, below the mount.
std::string own_group(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::string path;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::")) path = line.substr(3);
  return path;
}

/// What the limit of one group leaves.
std::uint64_t left_by(const std::string& group, const char* limit_file, const char* used_file,
                      std::uint64_t own_bytes) {
  const std::uint64_t limit = number_in(group + limit_file), used = number_in(group + used_file);
  if (limit == kUnlimited || used == kUnlimited) return kUnlimited;
  const auto cache = page_cache(group + "/memory.stat");
  const std::uint64_t held = cache ? used - std::min(used, *cache) : std::min(used, own_bytes);
  return limit - std::min(limit, held);
}

}  // namespace

std::uint64_t cgroup_available_bytes(const std::string& root, std::uint64_t own_bytes) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::uint64_t available = kUnlimited;
  const auto look_at = [&](const std::string& group, const char* limit_file, const char* used_file) {
    available = std::min(available, left_by(group, limit_file, used_file, own_bytes));
  };
  std::string group = mount + own_group(root);
  for (; group.size() > mount.size(); group.resize(group.rfind('/')))
    look_at(group, "/memory.max", "/memory.current");
  look_at(mount, "/memory.max", "/memory.current");
  look_at(mount + "/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes");
  return available;
}

}  // namespace tessera::cli
