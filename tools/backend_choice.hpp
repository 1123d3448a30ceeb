// Which backend a run takes; found before anything is read.
#pragma once
#include <string>

#include "partition/communicator.hpp"

namespace tessera::cli {

/// `asked` as --backend has it; the answer is "auto" or a backend that is there. Several processes run on the
/// CPU: "auto" takes it, and "cuda" throws OptionError. Throws ResourceError for a device that does not
/// answer.
std::string backend_for(const std::string& asked, const Communicator& comm);

}  // namespace tessera::cli
