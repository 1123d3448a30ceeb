// Where a command reads and writes: checked before it does any work.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "partition/communicator.hpp"

namespace tessera::cli {

/// Name of the option, and its path; "" is not given, "-" standard output or input.
using NamedPaths = std::vector<std::pair<std::string, std::string>>;

// Of outputs that have their labels beside them (FILE.labels.txt of .npy and .mtx), both look at these, too.

/// Throws OptionError where two outputs would go to one file, or both to standard output.
void check_distinct_outputs(const NamedPaths& outputs);
/// Throws OptionError where an output would replace an input, by whatever path ("-" never does).
void check_inputs_are_kept(const NamedPaths& inputs, const NamedPaths& outputs);
/// Throws InputError for a file that cannot be opened, before a graph is read; pipes are left alone, what is
/// read of them is gone. Rank 0 looks. Collective.
void check_readable_inputs(const NamedPaths& inputs, Communicator& comm);
/// Throws ResourceError for a file that cannot be written; rank 0, which writes, looks. Collective.
void check_writable_outputs(const NamedPaths& outputs, Communicator& comm);

}  // namespace tessera::cli
