// What a command has around it while it runs: the group of processes, the general options, progress, phase
// times and the report. One for each run; made by run_command.
#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "kernels/base/seconds_since.hpp"
#include "kernels/profile_range.hpp"
#include "partition/communicator.hpp"
#include "tools/option_table.hpp"
#include "tools/progress.hpp"

namespace tessera::cli {

struct GeneralOptions {
  bool quiet = false, verbose = false, no_progress = false, dry_run = false, no_memory_check = false;
  int threads = 0;     ///< 0 = by the affinity mask
  std::string report;  ///< JSON file; "" = none
};

class Session {
 public:
  Session(Communicator& comm, const std::string& command, const GeneralOptions& general,
          const OptionTable& options, int threads);

  Communicator& comm() const { return comm_; }
  bool is_root() const { return comm_.is_root(); }
  const GeneralOptions& general() const { return general_; }
  Progress& progress() { return progress_; }
  nlohmann::ordered_json& report() { return report_; }

  /// Adds seconds to a phase of the report.
  void add_seconds(const std::string& phase, double seconds);
  double seconds_of(const std::string& phase) const;
  /// Runs `work` and adds its time to `phase`.
  template <class F>
  auto timed(const std::string& phase, F&& work) {
    const ProfileRange range(phase.c_str());
    const auto start = Clock::now();
    struct Adder {
      Session* session;
      const std::string& phase;
      Clock::time_point start;
      ~Adder() { session->add_seconds(phase, seconds_since(start)); }
    } adder{this, phase, start};
    return work();
  }
  /// Fills in what is known only at the end (peak memory, total time) and writes the report, when one was
  /// asked for. Collective.
  void write_report();

 private:
  using Clock = std::chrono::steady_clock;
  Communicator& comm_;
  const GeneralOptions& general_;
  Progress progress_;
  nlohmann::ordered_json report_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace tessera::cli
