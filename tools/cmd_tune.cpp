// tessera tune
#include <filesystem>

#include "engine/auto_tune.hpp"
#include "engine/device_fit.hpp"
#include "engine/device_tune.hpp"
#include "engine/io/open_input.hpp"
#include "kernels/devices.hpp"
#include "tools/all_commands.hpp"
#include "tools/backend_choice.hpp"
#include "tools/exit_code.hpp"
#include "tools/log.hpp"
#include "tools/output_paths.hpp"
#include "tools/stop_signal.hpp"
#include "tools/text_output.hpp"

namespace tessera::cli {
namespace {

class TuneCommand : public Command {
 public:
  TuneCommand();
  void check_options() const override;
  NamedPaths outputs() const override {
    return {{"--output", output_}, {"--samples", samples_}, {"--report", general_.report}};
  }
  int run(Session& session) override;

 private:
  std::string table_path(bool is_gpu) const;
  void say_where(const std::string& path) const;
  std::string backend_ = "auto", output_, samples_, fit_;
};

TuneCommand::TuneCommand()
    : Command("tune", "Measures how fast this machine, or its GPU, multiplies; later runs plan with it.",
              {"tessera tune", "tessera tune --backend cpu -o table.json",
               "tessera tune --fit samples.jsonl -o table.json"}) {
  options_.group("Output");
  options_
      .text("output", "FILE", output_,
            "where the table goes, - is standard output; later runs look in the default place only "
            "[~/.cache/tessera/cpu-MODEL.table.json, of a GPU gpu-MODEL-vN.table.json; with XDG_CACHE_HOME "
            "there instead of in ~/.cache]")
      .letter = 'o';
  options_.text("samples", "FILE", samples_, "of a GPU: each product and its time, a JSON object a line");
  options_.group("Measuring");
  add_backend_option(options_, backend_, "what is measured; auto takes the GPU where one answers");
  options_.text("fit", "FILE", fit_,
                "measures nothing: the table of a GPU from what --samples wrote, here or elsewhere; with -o");
  add_general_options(false);
}

void TuneCommand::check_options() const {
  if (general_.report == "-") throw OptionError("--report: \"-\" is standard output, where the table goes");
  if (samples_ == "-") throw OptionError("--samples: \"-\" is standard output, where the table goes");
  if (!fit_.empty() && output_.empty()) throw OptionError("--fit: expected -o, where the table goes");
  if (!fit_.empty() && !samples_.empty())
    throw OptionError("--samples: --fit measures nothing; leave one of them out");
  if (!fit_.empty() && backend_ == "cpu")
    throw OptionError("--fit: makes the table of a GPU; leave --backend cpu out");
  NamedPaths all = outputs();
  all.emplace_back("--fit", fit_ == "-" ? "" : fit_);  // no place for the table, even where it is missing
  check_distinct_outputs(all);
  check_inputs_are_kept({{"--fit", fit_}}, outputs());
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

DeviceSamples measure_gpu(const std::function<void(double)>& progress) {
  const auto f32 = make_backend<float>("cuda");
  const auto f64 = make_backend<double>("cuda");
  DeviceSamples samples = measure_device(*f32, *f64, {}, progress);
  samples.device = device_name();
  return samples;
}

DeviceSamples read_samples(const std::string& path) {
  const TextHead text = read_whole(path);
  return device_samples_from_json_lines(text.text, text.name);
}

std::string TuneCommand::table_path(bool is_gpu) const {
  if (!output_.empty()) return output_;
  std::string path = is_gpu ? device_rates_path() : perf_table_path();
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  return path;
}

void TuneCommand::say_where(const std::string& path) const {
  if (path == "-") return;
  const char* use = output_.empty() ? "later runs plan with it" : "later runs look in the default place only";
  log_info(fmt::format("table written to {}; {}", path, use));
}

int TuneCommand::run(Session& session) {
  if (session.comm().size() > 1) throw OptionError("tune measures one machine; run it without mpirun");
  const bool is_fit = !fit_.empty();
  const bool is_gpu = is_fit || make_backend<float>(backend_)->name() == "cuda";
  if (!is_gpu && !samples_.empty())
    throw OptionError(
        "--samples: those of a GPU, and a processor is measured; leave it out, or see with --backend cuda "
        "why "
        "no GPU answers");
  const std::string path = table_path(is_gpu);
  check_writable_outputs({{"--output", path}, {"--samples", samples_}, {"--report", general_.report}},
                         session.comm());
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
      const DeviceSamples samples = is_fit ? read_samples(fit_) : measure_gpu(progress);
      if (!samples_.empty()) write_text(samples_, device_samples_to_json_lines(samples));
      const DeviceRates rates = fit_device_rates(samples);
      take(rates, device_rates_to_json(rates));
    } else {
      const PerfTable table = measure_perf_table(progress);
      take(table, perf_table_to_json(table));
    }
  });
  session.progress().done();
  if (output_ != "-") write_stdout(text);
  write_text(path, json);
  say_where(path);
  session.write_report();
  return kExitFine;
}

}  // namespace

std::unique_ptr<Command> make_tune_command() { return std::make_unique<TuneCommand>(); }

}  // namespace tessera::cli
