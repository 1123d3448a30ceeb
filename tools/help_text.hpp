// Help that belongs to no single command.
#pragma once
#include <string>

namespace tessera::cli {

std::string program_help();
/// exit-codes, formats, mpi, or a command's name. Throws OptionError naming the nearest topic.
std::string topic_help(const std::string& topic);

}  // namespace tessera::cli
