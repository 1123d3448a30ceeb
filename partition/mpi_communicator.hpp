// Communicator over MPI, and the start and end of MPI. Only this file and its .cpp call MPI.
#pragma once
#include <memory>

#include "partition/communicator.hpp"

namespace tessera {

/// MPI from construction to finish(), for the one thread that uses it; where the program has started MPI by
/// itself, it is the program's to end, too. A process that ends through an exception does not finalize (that
/// could hang while other ranks still work): call finish() on the good path, or where a time limit ends a
/// process that waits in vain.
class MpiSession {
 public:
  /// Throws ResourceError when MPI does not start, or has been started or ended in a way that does not serve.
  MpiSession(int& argc, char**& argv);
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  /// All ranks of the job. The session must outlive it. Messages go in pieces of at most `piece_bytes`
  /// (8 to 2^30; MPI counts in ints), which tests make small.
  std::unique_ptr<Communicator> world(std::uint64_t piece_bytes = std::uint64_t{1} << 30) const;
  /// Collective; after the last communication. Does nothing where MPI was there before.
  void finish();
  /// Whether a launcher (mpirun, srun) started this process; if not, MPI need not be started at all.
  static bool under_mpirun();

 private:
  bool has_started_mpi_ = false;
};

}  // namespace tessera
