// From arguments to exit code: finds the command, reads its options, runs it. Here errors become
// exit codes (those of starting and ending MPI in main.cpp).
#pragma once
#include <string>
#include <vector>

#include "partition/communicator.hpp"

namespace tessera::cli {

/// Prints errors; never throws. After an error the ranks of a group need not be at the same point: a rank
/// that then waits in vain for the others (leaving MPI is collective) is ended after three seconds, or 1.5
/// where a rank is lost.
int run_program(const std::vector<std::string>& arguments, Communicator& comm);

}  // namespace tessera::cli
