// How the ranks' parts of one output file reach rank 0, which alone writes: rank 0 asks a rank for its next
// piece whenever it needs one, so that no rank ever holds more than a piece of another, and an error
// anywhere (a full disk, a missing label) ends all ranks together. Used by the writers.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "partition/communicator.hpp"

namespace tessera {

/// Appends the rank's next piece to `piece`; appends nothing when there are no more. Pieces of some
/// megabytes are best.
using PieceProducer = std::function<void(std::string& piece)>;

/// Rank 0's view of all ranks' pieces.
class PieceReader {
 public:
  PieceReader(Communicator& comm, const PieceProducer& own) : comm_(comm), own_(own), ended_(comm.size()) {}
  int num_ranks() const { return comm_.size(); }
  /// The next piece of `rank`; empty at its end. Rethrows what the rank's producer threw.
  std::string next(int rank);
  /// Tells the ranks that have not ended that nothing more is wanted.
  void stop_all();

 private:
  Communicator& comm_;
  const PieceProducer& own_;
  std::vector<bool> ended_;
};

/// Collective: rank 0 runs `consume` while the other ranks answer it from `produce`. All ranks throw the
/// error of whichever failed.
void stream_pieces(Communicator& comm, const PieceProducer& produce,
                   const std::function<void(PieceReader&)>& consume);

/// stream_pieces for the plain case: `write` gets all pieces of rank 0, then all of rank 1, and so on.
void concatenate_pieces(Communicator& comm, const PieceProducer& produce,
                        const std::function<void(std::string_view)>& write);

}  // namespace tessera
