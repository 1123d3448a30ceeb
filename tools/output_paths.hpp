// Where a command writes: checked before it does any work.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tessera::cli {

/// Name of the option, and its path; "" is not given, "-" standard output.
using OutputPaths = std::vector<std::pair<std::string, std::string>>;

/// Throws OptionError where two outputs would go to one file, or both to standard output.
void check_distinct_outputs(const OutputPaths& outputs);
/// Throws ResourceError for a file that cannot be written.
void check_writable_outputs(const OutputPaths& outputs);

}  // namespace tessera::cli
