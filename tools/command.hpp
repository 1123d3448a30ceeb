// One subcommand of the program: its options and what it does.
#pragma once
#include <string>
#include <vector>

#include "tools/option_table.hpp"
#include "tools/output_paths.hpp"
#include "tools/session.hpp"

namespace tessera::cli {

class Command {
 public:
  Command(std::string name, std::string summary, std::vector<std::string> examples);
  virtual ~Command() = default;
  Command(const Command&) = delete;  // the table points into the command
  Command& operator=(const Command&) = delete;

  const std::string& name() const { return name_; }
  const std::string& summary() const { return summary_; }
  OptionTable& options() { return options_; }
  const GeneralOptions& general() const { return general_; }
  std::string help() const;

  /// Rules between options; called once all are set. Throws OptionError.
  virtual void check_options() const {}
  /// Files that the command writes, by the names of their options.
  virtual NamedPaths outputs() const { return {{"--report", general_.report}}; }
  /// Collective; the exit code. Errors are thrown.
  virtual int run(Session& session) = 0;

 protected:
  /// --report, --threads, --quiet and so on; each command adds them after its own.
  void add_general_options(bool with_dry_run);
  std::string name_, summary_;
  std::vector<std::string> examples_;
  OptionTable options_;
  GeneralOptions general_;
};

}  // namespace tessera::cli
