// The devices of all ranks of one machine, which write to each other's memory: linked by that alone.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/peer_meeting.hpp"
#include "kernels/cuda/peer_memory.hpp"

namespace tessera::cuda {

class PeerGroup {
 public:
  /// At most kMostSharingRanks. Throws NoRoomError.
  PeerGroup(int rank, int num_ranks);
  /// Without an error meets the others first, which may have a way to this rank's memory; else what waits for
  /// them on the device ends.
  ~PeerGroup();
  PeerGroup(const PeerGroup&) = delete;
  PeerGroup& operator=(const PeerGroup&) = delete;

  /// What the others need to find a way to this rank's board, opaque bytes.
  std::string offer() const;
  /// Finds a way to the boards of all, and leaves word there; whether there is one. offers: of every rank.
  bool open(std::span<const std::string> offers);
  /// When all ranks have opened: whether the word of every one has come. Drivers report ways that do not
  /// work.
  bool hears_all();
  /// From now on, until a rank is lost, all below may be called, which is collective.
  void link() { is_linked_ = true; }
  bool is_linked() const { return is_linked_; }
  /// The group's end undoes nothing any more: the process is about to.
  void leave_to_exit() { ends_with_process_ = true; }

  /// What comes after this on the default stream comes after what came before it on every rank's.
  void meet();
  /// Returns when what every rank's default stream had to do before is done.
  void meet_and_wait();
  /// Throws NoRoomError on all ranks where one has none: for so many bytes, it says.
  void require_room(bool has_room, std::uint64_t num_bytes);
  /// Memory that all ranks write, so many bytes on each, uninitialised. Waits for the others, and for the
  /// default stream. Throws NoRoomError on all ranks.
  std::shared_ptr<PeerMemory> share_memory(std::uint64_t num_bytes);
  /// Returns when `done` has passed, and the meeting before it with it. Throws LostRankError where it has not
  /// kAnswerSeconds after `begun` has: then a rank is gone or has stopped. What waits for it on the device
  /// has ended then.
  void wait(cudaEvent_t begun, cudaEvent_t done);

 private:
  /// Memory that other ranks may have a way to, though what it was for may be gone here.
  struct Shared {
    std::shared_ptr<void> own;
    std::weak_ptr<PeerMemory> user;
  };
  /// What a rank says when memory is to be shared.
  struct Sharing {
    MemoryOffer offer;
    std::uint64_t first_in_use = 0;  ///< of shared_
  };
  PeerBoard* own_board() const { return boards_.of[boards_.rank]; }
  /// The notices of all ranks on a page.
  template <class T>
  std::vector<T> read_notices(unsigned page) const;
  /// `mine` of all ranks.
  template <class T>
  std::vector<T> gathered(const T& mine);
  /// Null where there is no room.
  std::shared_ptr<PeerMemory> allocate(std::uint64_t num_bytes);
  /// Of all ranks. Frees what was shared before and is not used by any rank any more.
  std::vector<MemoryOffer> exchange_offers(const MemoryOffer& mine);
  bool has_passed(cudaEvent_t event);
  bool has_given_up() const;
  void give_up();
  [[noreturn]] void fail(const std::string& message);

  PeerMemory board_memory_;
  PeerBoards boards_;
  std::shared_ptr<unsigned> given_up_;    ///< in page-locked memory of the host, which the device reads
  std::vector<std::uint64_t> processes_;  ///< of all ranks
  std::uint64_t num_meetings_ = 0, num_gathered_ = 0;
  std::vector<Shared> shared_;  ///< so far, in an order that is the same on every rank
  bool is_linked_ = false, ends_with_process_ = false;
};

}  // namespace tessera::cuda
