// Where a command reads and writes: checked before it does any work.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tessera::cli {

/// Name of the option, and its path; "" is not given, "-" standard output or input.
using NamedPaths = std::vector<std::pair<std::string, std::string>>;

// Of outputs that have their labels beside them (FILE.labels.txt of .npy and .mtx), both look at these, too.

/// Throws OptionError where two outputs would go to one file, or both to standard output.
void check_distinct_outputs(const NamedPaths& outputs);
/// Throws OptionError where an output would replace an input, by whatever path ("-" never does).
void check_inputs_are_kept(const NamedPaths& inputs, const NamedPaths& outputs);
/// Throws ResourceError for a file that cannot be written.
void check_writable_outputs(const NamedPaths& outputs);

}  // namespace tessera::cli
