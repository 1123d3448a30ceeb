// Exit codes of the program (docs/exit-codes.md); 1, 2, 4 and 5 are the categories of kernels/base/error.hpp.
#pragma once

namespace tessera::cli {

inline constexpr int kExitFine = 0;
inline constexpr int kExitNotConverged = 3;
inline constexpr int kExitSignalBase = 128;

}  // namespace tessera::cli
