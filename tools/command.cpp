#include "tools/command.hpp"

namespace tessera::cli {

Command::Command(std::string name, std::string summary, std::vector<std::string> examples)
    : name_(std::move(name)), summary_(std::move(summary)), examples_(std::move(examples)) {}

void Command::add_general_options(bool with_dry_run) {
  options_.group("Running and reporting");
  options_.text("report", "FILE.json", general_.report,
                "write graph facts, options, plan, residuals, times and memory as JSON (docs/report.md)");
  options_.count("threads", general_.threads, 1, 4096, "threads a process [the affinity mask]",
                 std::optional<int>(0));
  options_.flag("quiet", general_.quiet, "errors only on stderr").letter = 'q';
  options_.flag("verbose", general_.verbose, "say more on stderr").letter = 'v';
  options_.flag("no-progress", general_.no_progress, "no progress line on a terminal");
  options_.flag("no-memory-check", general_.no_memory_check,
                "begin even where the machine reports too little free memory");
  if (with_dry_run)
    options_.flag("dry-run", general_.dry_run,
                  "read and count, print the plan and the bytes each rank needs, write nothing");
}

std::string Command::help() const {
  std::string usage = "tessera " + name_;
  for (const Option& option : options_.options())
    if (option.positional) usage += " " + option.placeholder;
  std::string text = fmt::format("Usage: {} [options]\n\n{}\n", usage, summary_);
  if (!examples_.empty()) text += "\nExamples:\n";
  for (const std::string& example : examples_) text += "  " + example + "\n";
  text += options_help(options_);
  return text +
         "\nOptions files:\n"
         "  --config FILE               read options from an INI file; the command line wins\n"
         "  --print-config              print the INI file that repeats this run, and stop\n"
         "  -h, --help                  this text\n"
         "\nCounts may be written 1e6, 64K (65536), 2M. See also: tessera help formats|exit-codes|mpi\n";
}

}  // namespace tessera::cli
