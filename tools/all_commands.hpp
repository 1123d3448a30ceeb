// The commands of the program by name.
#pragma once
#include <memory>
#include <span>

#include "tools/command.hpp"

namespace tessera::cli {

struct CommandEntry {
  const char* name;
  std::unique_ptr<Command> (*make)();
};
/// All commands, in the order of the help.
std::span<const CommandEntry> all_commands();

std::unique_ptr<Command> make_pagerank_command();
std::unique_ptr<Command> make_hits_command();
std::unique_ptr<Command> make_rwr_command();
std::unique_ptr<Command> make_stats_command();
std::unique_ptr<Command> make_convert_command();
std::unique_ptr<Command> make_generate_command();
std::unique_ptr<Command> make_spmv_command();
std::unique_ptr<Command> make_batch_command();
std::unique_ptr<Command> make_cg_command();
std::unique_ptr<Command> make_tune_command();

}  // namespace tessera::cli
