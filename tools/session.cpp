#include "tools/session.hpp"

#include "partition/run_together.hpp"
#include "tools/memory.hpp"
#include "tools/report.hpp"
#include "tools/text_output.hpp"
#include "tools/version.hpp"

namespace tessera::cli {

Session::Session(Communicator& comm, const std::string& command, const GeneralOptions& general,
                 const OptionTable& options, int threads)
    : comm_(comm), general_(general), progress_(general, comm.is_root()) {
  report_["report_version"] = kReportVersion;
  report_["versions"] = version_json();
  report_["command"] = command;
  report_["options"] = options_json(options);
  report_["ranks"] = comm.size();
  report_["threads"] = threads;
  report_["seconds"] = nlohmann::ordered_json::object();
}

void Session::add_seconds(const std::string& phase, double seconds) {
  report_["seconds"][phase] = seconds_of(phase) + seconds;
}

double Session::seconds_of(const std::string& phase) const { return report_["seconds"].value(phase, 0.0); }

void Session::write_report() {
  if (general_.report.empty()) return;
  report_["peak_memory_bytes"] = all_max(comm_, peak_memory_bytes());
  report_["seconds"]["total"] = seconds_since(start_);
  run_together(comm_, [&] {
    if (is_root()) write_text(general_.report, report_text(report_));
  });
}

}  // namespace tessera::cli
