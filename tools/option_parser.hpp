// Fills the table of a command from the command line and a config file. Order: command line, config
// file, default. Every error is an OptionError that names the option and, where one is near, the name
// that was probably meant.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tools/command.hpp"

namespace tessera::cli {

enum class ParseOutcome { run, show_help, print_config };

/// Gives the text of a config file (read once, on rank 0).
using ConfigReader = std::function<std::string(const std::string& path)>;

ParseOutcome parse_options(Command& command, const std::vector<std::string>& arguments,
                           const ConfigReader& read_config);

/// The INI file that repeats a run with the values in force.
std::string config_of(Command& command);

}  // namespace tessera::cli
