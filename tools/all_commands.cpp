#include "tools/all_commands.hpp"

#include <array>

namespace tessera::cli {

std::span<const CommandEntry> all_commands() {
  static constexpr std::array<CommandEntry, 10> commands{{{"pagerank", make_pagerank_command},
                                                          {"hits", make_hits_command},
                                                          {"rwr", make_rwr_command},
                                                          {"stats", make_stats_command},
                                                          {"convert", make_convert_command},
                                                          {"generate", make_generate_command},
                                                          {"spmv", make_spmv_command},
                                                          {"batch", make_batch_command},
                                                          {"cg", make_cg_command},
                                                          {"tune", make_tune_command}}};
  return commands;
}

}  // namespace tessera::cli
