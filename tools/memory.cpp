#include "tools/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"
#include "tools/threads.hpp"

namespace tessera::cli {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// The number of kB after `key` in a /proc file, in bytes; `missing` when it is not there.
std::uint64_t proc_value(const char* path, const std::string& key, std::uint64_t missing) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return std::stoull(line.substr(key.size())) * 1024;
  return missing;
}

bool checks_are_skipped = false;

std::uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : kUnlimited;  // "max" and a missing file: no limit
}

/// Page cache that a cgroup counts as used and gives back where it must, by its memory.stat (of version 1 the
/// totals); nothing where that says nothing.
std::optional<std::uint64_t> page_cache(const std::string& stat_path) {
  std::ifstream file(stat_path);
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

/// What the cgroup (version 2, then 1) of this process still allows; page cache counts as free there. Where
/// that is not told, what others use does.
std::uint64_t cgroup_available() {
  std::ifstream file("/proc/self/cgroup");
  std::string path;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::")) path = line.substr(3);
  for (const auto& [limit_file, used_file] :
       {std::pair<std::string, std::string>{"/sys/fs/cgroup" + path + "/memory.max",
                                            "/sys/fs/cgroup" + path + "/memory.current"},
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}) {
    const std::uint64_t limit = number_in(limit_file), used = number_in(used_file);
    if (limit == kUnlimited || used == kUnlimited) continue;
    const auto cache = page_cache(limit_file.substr(0, limit_file.rfind('/')) + "/memory.stat");
    const std::uint64_t held =
        cache ? used - std::min(used, *cache) : std::min(used, proc_value("/proc/self/status", "VmRSS:", 0));
    return limit - std::min(limit, held);
  }
  return kUnlimited;
}

std::uint64_t address_space_available() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const std::uint64_t used = proc_value("/proc/self/status", "VmSize:", 0);
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used);
}

}  // namespace

std::uint64_t peak_memory_bytes() { return proc_value("/proc/self/status", "VmHWM:", 0); }

std::uint64_t available_memory_bytes() {
  return std::min({proc_value("/proc/meminfo", "MemAvailable:", kUnlimited), cgroup_available(),
                   address_space_available()});
}

void skip_memory_checks() { checks_are_skipped = true; }

void check_memory(std::uint64_t needed_bytes, const char* what, const std::string& remedy,
                  Communicator& comm) {
  if (checks_are_skipped) return;
  const auto sharing = static_cast<std::uint64_t>(std::min(comm.size(), processes_on_this_machine()));
  const std::uint64_t available = available_memory_bytes() / sharing;
  run_together(comm, [&] {
    if (needed_bytes <= available) return;
    throw ResourceError(fmt::format("{} needs {} bytes more on each process, but {} are available; use {}",
                                    what, needed_bytes, available, remedy));
  });
}

}  // namespace tessera::cli
