#include "tools/threads.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "tools/log.hpp"

namespace tessera::cli {
namespace {

int cores_of_mask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return omp_get_num_procs();
  return std::max(1, CPU_COUNT(&mask));
}

}  // namespace

void wait_politely_on_busy_machines(char** argv) {
  constexpr const char* kPolicy = "OMP_WAIT_POLICY";
  double load = 0;
  if (std::getenv(kPolicy) != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  if (getloadavg(&load, 1) != 1 || 2 * load < static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN))) return;
  std::error_code failure;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure || setenv(kPolicy, "passive", 1) != 0) return;
  execv(program.c_str(), argv);
}

int processes_on_this_machine() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"})
    if (const char* text = std::getenv(name)) return std::max(1, std::atoi(text));
  return 1;
}

int start_threads(int asked, Communicator& comm) {
  const int allowed = cores_of_mask();
  const int online = std::max(allowed, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  int threads = asked;
  if (threads == 0) {
    const bool shares_machine = comm.size() > 1 && allowed == online;
    threads = shares_machine ? std::max(1, allowed / processes_on_this_machine()) : allowed;
    if (comm.size() > 1 && allowed == 1 && online > comm.size())
      log_info(
          fmt::format("each process is bound to 1 of {} cores; for more threads: mpirun --bind-to none, "
                      "or --map-by slot:PE=N for N threads a process",
                      online));
  }
  omp_set_num_threads(threads);
  static std::unique_ptr<tbb::global_control> tbb_limit;
  tbb_limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                    static_cast<std::size_t>(threads));
  return threads;
}

}  // namespace tessera::cli
