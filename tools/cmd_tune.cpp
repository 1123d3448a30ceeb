// tessera tune
#include <filesystem>

#include "engine/auto_tune.hpp"
#include "engine/io/atomic_file.hpp"
#include "engine/perf_table.hpp"
#include "tools/command.hpp"
#include "tools/exit_code.hpp"
#include "tools/log.hpp"
#include "tools/stdout_text.hpp"
#include "tools/stop_signal.hpp"

namespace tessera::cli {
namespace {

class TuneCommand : public Command {
 public:
  TuneCommand();
  void check_options() const override;
  int run(Session& session) override;

 private:
  std::string output_;
};

TuneCommand::TuneCommand()
    : Command("tune",
              "Measures how fast this machine multiplies blocks of each shape; later runs plan with it.",
              {"tessera tune", "tessera tune -o table.json"}) {
  options_.group("Output");
  options_.text("output", "FILE", output_, "where the table goes [the user's cache directory]").letter = 'o';
  add_general_options(false);
}

void TuneCommand::check_options() const {
  if (general_.report == "-") throw OptionError("--report: \"-\" is standard output, where the table goes");
}

std::string table_text(const PerfTable& table) {
  std::string text = fmt::format("{}, {}\nwidth\theight\tns an element\n", table.machine, table.measured_on);
  for (const PerfTable::Entry& entry : table.entries)
    text += fmt::format("{}\t{}\t{:.3f}\n", entry.width, entry.height, entry.ns_per_element);
  text += "\nCSR: bytes of x\tns an element\n";
  for (const PerfTable::CsrEntry& entry : table.csr)
    text += fmt::format("{}\t{:.3f}\n", entry.x_bytes, entry.ns_per_element);
  return text + fmt::format("ns a row\t{:.3f}\n", table.csr_ns_per_row);
}

void write_table(const PerfTable& table, const std::string& path) {
  const WritingScope writing;
  AtomicFile file(path);
  file.write(perf_table_to_json(table));
  file.commit();
}

int TuneCommand::run(Session& session) {
  if (session.comm().size() > 1) throw OptionError("tune measures one machine; run it without mpirun");
  const std::string path = output_.empty() ? perf_table_path() : output_;
  std::error_code error;
  if (output_.empty()) std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  check_writable(path);
  if (!general_.report.empty()) check_writable(general_.report);
  const PerfTable table = session.timed("measure", [&] {
    return measure_perf_table([&](double fraction) {
      session.progress().phase(fmt::format("measuring, {:.0f} %", 100 * fraction));
      if (stop_requested()) throw Error(ErrorCategory::interrupted, "interrupted while measuring");
    });
  });
  session.progress().done();
  if (output_ != "-") write_stdout(table_text(table));
  write_table(table, path);
  log_info(fmt::format("table written to {}", path));
  session.write_report();
  return kExitFine;
}

}  // namespace

std::unique_ptr<Command> make_tune_command() { return std::make_unique<TuneCommand>(); }

}  // namespace tessera::cli
