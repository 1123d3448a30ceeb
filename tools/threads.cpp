#include "tools/threads.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"
#include "tools/log.hpp"

namespace tessera::cli {
namespace {

constexpr const char *kPolicy = "OMP_WAIT_POLICY", *kSpins = "GOMP_SPINCOUNT";

/// OpenMP ends the process where it cannot start its threads, so that is tried before.
void check_that_threads_start(int threads) {
  const int others = threads - 1;
  std::vector<std::thread> started;
  started.reserve(static_cast<std::size_t>(others));
  std::promise<void> all_are_there;
  const std::shared_future<void> end = all_are_there.get_future().share();
  bool failed = false;
  try {
    for (int i = 0; i < others; ++i) started.emplace_back([end] { end.wait(); });
  } catch (const std::system_error&) {
    failed = true;
  }
  all_are_there.set_value();
  for (std::thread& thread : started) thread.join();
  if (failed)
    throw ResourceError(
        fmt::format("cannot start {} threads; use fewer (--threads), or raise the limits of "
                    "processes (ulimit -u) and of memory",
                    threads));
}

struct Cores {
  int count = 1;     ///< of the affinity mask
  std::string name;  ///< the same for processes with the same cores of the same machine
};

Cores allowed_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::array<char, 256> machine{};
  (void)gethostname(machine.data(), machine.size() - 1);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return {omp_get_num_procs(), machine.data()};
  const std::string_view bits(reinterpret_cast<const char*>(&mask), sizeof mask);
  return {std::max(1, CPU_COUNT(&mask)), machine.data() + std::string(bits)};
}

/// Processes that have these cores: mpirun binds each of more than two to a whole socket, or none to
/// anything.
int processes_with(const Cores& cores, Communicator& comm) {
  const std::uint64_t mine = std::hash<std::string>()(cores.name);
  const std::vector<std::uint64_t> all = all_gather(comm, mine);
  return static_cast<int>(std::count(all.begin(), all.end(), mine));
}

}  // namespace

std::optional<WaitSetting> wait_setting(long cores, double load) {
  constexpr long kManyCores = 16;
  if (2 * load >= static_cast<double>(cores)) return WaitSetting{kPolicy, "passive"};
  if (cores >= kManyCores) return WaitSetting{kSpins, "1000"};  // 50 us; steps of small graphs wait for less
  return std::nullopt;
}

void wait_politely(char** argv) {
  if (std::getenv(kPolicy) != nullptr || std::getenv(kSpins) != nullptr) return;
  double load = 0;
  if (getloadavg(&load, 1) != 1) load = 0;
  const auto setting = wait_setting(sysconf(_SC_NPROCESSORS_ONLN), load);
  if (!setting) return;
  std::error_code failure;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (!failure && setenv(setting->name, setting->value, 1) == 0) execv(program.c_str(), argv);
}

int processes_on_this_machine() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"})
    if (const char* text = std::getenv(name)) return std::max(1, std::atoi(text));
  return 1;
}

int start_threads(int asked, Communicator& comm) {
  const Cores cores = allowed_cores();
  const int allowed = cores.count;
  const int online = std::max(allowed, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  int threads = asked;
  if (threads == 0) {
    threads = std::max(1, allowed / processes_with(cores, comm));
    if (comm.size() > 1 && allowed == 1 && online > comm.size())
      log_info(
          fmt::format("each process is bound to 1 of {} cores; for more threads: mpirun --bind-to none, "
                      "or --map-by slot:PE=N for N threads a process",
                      online));
  }
  run_together(comm, [&] { check_that_threads_start(threads); });
  omp_set_num_threads(threads);
  static std::unique_ptr<tbb::global_control> tbb_limit;
  tbb_limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                    static_cast<std::size_t>(threads));
  return threads;
}

}  // namespace tessera::cli
