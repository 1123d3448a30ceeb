// The devices of all ranks, linked by NCCL: where they do not write to each other's memory (peer_group.hpp).
#pragma once
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>

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
  /// Aborts what is under way, joining, too; what hangs is left behind after a moment, for the process to
  /// end. So does every error below, before it is thrown: nothing that waits for the device hangs later.
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  /// all[r * bytes_each ..] = mine of rank r; device memory, on `stream`.
  void all_gather(const void* mine, void* all, std::uint64_t bytes_each, cudaStream_t stream);
  /// Returns when `done` has passed. Throws LostRankError on an error of NCCL's, or when it has not in the
  /// time that a rank has from `begun` on: kAnswerSeconds, and several times what
  /// `bytes` to receive take by the links' rate. Then a rank is gone or has stopped.
  void wait(cudaEvent_t begun, cudaEvent_t done, std::uint64_t bytes);

 private:
  struct Joining;
  void measure_links();
  void end_joining();
  bool has_passed(cudaEvent_t event);
  bool abort(double seconds);  ///< whether it came to an end in time
  [[noreturn]] void fail(const std::string& message);
  void check(ncclResult_t result, const char* call);

  std::shared_ptr<Joining> joining_;  ///< null once that has ended
  std::future<std::pair<ncclResult_t, ncclComm_t>> joined_;
  ncclComm_t comm_ = nullptr;
  bool ends_with_process_ = false;
  double seconds_per_byte_ = 0;  ///< received in an exchange of all ranks
};

}  // namespace tessera::cuda
