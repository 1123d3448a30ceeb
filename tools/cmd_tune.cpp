// tessera tune
#include <filesystem>

#include "engine/auto_tune.hpp"
#include "engine/device_tune.hpp"
#include "engine/io/atomic_file.hpp"
#include "kernels/devices.hpp"
#include "tools/backend_choice.hpp"
#include "tools/command.hpp"
#include "tools/exit_code.hpp"
#include "tools/log.hpp"
#include "tools/output_paths.hpp"
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
  void say_where(const std::string& path) const;
  std::string backend_ = "auto", output_;
};

TuneCommand::TuneCommand()
    : Command("tune", "Measures how fast this machine, or its GPU, multiplies; later runs plan with it.",
              {"tessera tune", "tessera tune --backend cpu -o table.json"}) {
  options_.group("Output");
  options_
      .text("output", "FILE", output_,
            "where the table goes, - is standard output; later runs look in the default place only "
            "[~/.cache/tessera/cpu-MODEL.table.json, of a GPU gpu-MODEL-vN.table.json; with XDG_CACHE_HOME "
            "there instead of in ~/.cache]")
      .letter = 'o';
  options_.group("Measuring");
  add_backend_option(options_, backend_, "what is measured; auto takes the GPU where one answers");
  add_general_options(false);
}

void TuneCommand::check_options() const {
  if (general_.report == "-") throw OptionError("--report: \"-\" is standard output, where the table goes");
  check_distinct_outputs({{"--output", output_}, {"--report", general_.report}});
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

template <std::size_t kSize>
std::string rates_text(const char* part, const std::array<const char*, kSize>& names,
                       const Rates<kSize>& rates) {
  std::string text;
  for (std::size_t i = 0; i < kSize; ++i) text += fmt::format("{}\t{}\t{:.4g}\n", part, names[i], rates[i]);
  return text;
}

std::string table_text(const DeviceRates& rates) {
  return fmt::format("{}, {}\npart\trate\tvalue\n", rates.device, rates.measured_on) +
         rates_text("tiles", kTilesRates, rates.tiles) + rates_text("bins", kBinsRates, rates.bins) +
         rates_text("csr", kCsrRates, rates.csr) + rates_text("block", kBlockRates, rates.block);
}

void write_table(const std::string& json, const std::string& path) {
  const WritingScope writing;
  AtomicFile file(path);
  file.write(json);
  file.commit();
}

DeviceRates measure_gpu(const std::function<void(double)>& progress) {
  const auto f32 = make_backend<float>("cuda");
  const auto f64 = make_backend<double>("cuda");
  DeviceRates rates = measure_device_rates(*f32, *f64, {}, progress);
  rates.device = device_name();
  return rates;
}

void TuneCommand::say_where(const std::string& path) const {
  if (path == "-") return;
  const char* use = output_.empty() ? "later runs plan with it" : "later runs look in the default place only";
  log_info(fmt::format("table written to {}; {}", path, use));
}

int TuneCommand::run(Session& session) {
  if (session.comm().size() > 1) throw OptionError("tune measures one machine; run it without mpirun");
  const bool is_gpu = make_backend<float>(backend_)->name() == "cuda";
  const std::string path = !output_.empty() ? output_ : is_gpu ? device_rates_path() : perf_table_path();
  std::error_code error;
  if (output_.empty()) std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  check_writable(path);
  if (!general_.report.empty()) check_writable(general_.report);
  const auto progress = [&](double fraction) {
    session.progress().phase(fmt::format("measuring, {:.0f} %", 100 * fraction));
    if (stop_requested()) throw Error(ErrorCategory::interrupted, "interrupted while measuring");
  };
  std::string text, json;
  session.timed("measure", [&] {
    const auto take = [&](const auto& table, std::string table_json) {
      text = table_text(table);
      json = std::move(table_json);
    };
    if (is_gpu) {
      const DeviceRates rates = measure_gpu(progress);
      take(rates, device_rates_to_json(rates));
    } else {
      const PerfTable table = measure_perf_table(progress);
      take(table, perf_table_to_json(table));
    }
  });
  session.progress().done();
  if (output_ != "-") write_stdout(text);
  write_table(json, path);
  say_where(path);
  session.write_report();
  return kExitFine;
}

}  // namespace

std::unique_ptr<Command> make_tune_command() { return std::make_unique<TuneCommand>(); }

}  // namespace tessera::cli
