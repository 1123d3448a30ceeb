// Whether a person looks at an output.
#pragma once

namespace tessera::cli {

/// Whether what is written to `descriptor` (1 or 2) ends on a terminal. mpirun gives every process a
/// pseudo-terminal or a pipe of its own, so under mpirun its own descriptor counts; false where that cannot
/// be seen (rank 0 on another machine).
bool is_terminal(int descriptor);

}  // namespace tessera::cli
