#include "tools/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"
#include "tools/cgroup_memory.hpp"
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

std::uint64_t address_space_available() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const std::uint64_t used = proc_value("/proc/self/status", "VmSize:", 0);
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used);
}

}  // namespace

std::uint64_t peak_memory_bytes() { return proc_value("/proc/self/status", "VmHWM:", 0); }

std::uint64_t available_memory_bytes() {
  return std::min({proc_value("/proc/meminfo", "MemAvailable:", kUnlimited),
                   cgroup_available_bytes("", proc_value("/proc/self/status", "VmRSS:", 0)),
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
