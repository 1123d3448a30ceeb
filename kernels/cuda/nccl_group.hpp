// The devices of all ranks, linked by NCCL.
#pragma once
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/peer_memory.hpp"

namespace tessera::cuda {

/// Blocks, and so multiprocessors, that gathering takes at most: enough for most of the links' rate, and
/// few enough to leave the others to products meanwhile.
inline constexpr int kNcclBlocks = 32;

/// What rank 0 sends to all before they join; opaque bytes.
std::string new_nccl_id();

class NcclGroup {
 public:
  /// Begins to join the ranks that hold the id, which goes on beside this rank's other work.
  NcclGroup(const std::string& id, int rank, int num_ranks);
  /// Returns when all ranks have joined; before the first exchange. Throws LostRankError when NCCL fails or a
  /// rank does not come. Collective.
  void await_ranks();
  /// The group's end undoes nothing any more: the process is about to.
  void leave_to_exit() { ends_with_process_ = true; }
  /// Without an error, and where memory was shared, meets the others first, which may have a way to this
  /// rank's. Then aborts what is under way, joining, too; what hangs is left behind after a moment, for the
  /// process to end. So does every error below, before it is thrown: nothing that waits for the device hangs
  /// later.
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  /// all[r * bytes_each ..] = mine of rank r; device memory, on `stream`.
  void all_gather(const void* mine, void* all, std::uint64_t bytes_each, cudaStream_t stream);
  /// What comes after this on `stream` comes after what came before it on every rank's.
  void meet(cudaStream_t stream);
  /// Returns when what every rank's default stream had to do before is done.
  void meet_and_wait();
  /// Memory that all ranks write, so many bytes on each, uninitialised; null where they cannot: on several
  /// machines, where GPUs do not reach each other, or are more than kMostSharingRanks. Waits for the others,
  /// and for the default stream. Throws NoRoomError. Collective.
  std::shared_ptr<PeerMemory> share_memory(std::uint64_t num_bytes);
  /// Returns when `done` has passed. Throws LostRankError on an error of NCCL's, or when it has not in the
  /// time that a rank has from `begun` on (null: from now on): kAnswerSeconds, and several times what
  /// `bytes` to receive take by the links' rate. Then a rank is gone or has stopped.
  void wait(cudaEvent_t begun, cudaEvent_t done, std::uint64_t bytes);

 private:
  struct Joining;
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
  void measure_links();
  void end_joining();
  /// send(): an exchange on the default stream.
  template <class Send>
  void send_and_wait(const Send& send);
  /// `mine` of all ranks.
  template <class T>
  std::vector<T> gathered(const T& mine);
  /// Whether every rank has a way to every other's memory now. Frees what was shared before and is not used
  /// by any rank any more.
  bool open_to_all(PeerMemory& memory);
  /// After PeerMemory::open() on all ranks: whether what each writes there arrives on every other one.
  bool words_arrive(PeerMemory& memory, std::span<const MemoryOffer> offers);
  /// Whether all ranks say so.
  bool all_agree(bool mine);
  void end_sharing();
  bool has_passed(cudaEvent_t event);
  bool abort(double seconds);  ///< whether it came to an end in time
  [[noreturn]] void fail(const std::string& message);
  void check(ncclResult_t result, const char* call);

  std::shared_ptr<Joining> joining_;  ///< null once that has ended
  std::future<std::pair<ncclResult_t, ncclComm_t>> joined_;
  ncclComm_t comm_ = nullptr;
  int rank_, num_ranks_;
  std::shared_ptr<void> meeting_place_;  ///< what ranks send when they meet, which nobody reads
  std::vector<Shared> shared_;           ///< so far, in an order that is the same on every rank
  bool can_share_ = true;                ///< as far as has been tried
  bool ends_with_process_ = false;
  double seconds_per_byte_ = 0;  ///< received in an exchange of all ranks
};

}  // namespace tessera::cuda
