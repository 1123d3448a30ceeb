#include "kernels/cuda/peer_group.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <type_traits>

#include "kernels/base/error.hpp"
#include "kernels/base/lost_rank.hpp"
#include "kernels/base/seconds_since.hpp"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/device_stream.hpp"

namespace tessera::cuda {
namespace {

std::shared_ptr<unsigned> flag_of_host() {
  void* memory = nullptr;
  TESSERA_CUDA_CALL(cudaMallocHost(&memory, sizeof(unsigned)));
  auto* flag = static_cast<unsigned*>(memory);
  *flag = 0;
  return {flag, [](unsigned* own) { (void)cudaFreeHost(own); }};
}

template <class T>
std::string bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

PeerGroup::PeerGroup(int rank, int num_ranks) : board_memory_(sizeof(PeerBoard)), given_up_(flag_of_host()) {
  require(num_ranks <= kMostSharingRanks, "no more ranks than a board has room for");
  boards_.rank = static_cast<unsigned>(rank);
  boards_.num_ranks = static_cast<unsigned>(num_ranks);
  boards_.of[rank] = static_cast<PeerBoard*>(board_memory_.own().get());
  TESSERA_CUDA_CALL(cudaMemset(own_board(), 0, sizeof(PeerBoard)));
  TESSERA_CUDA_CALL(cudaStreamSynchronize(nullptr));  // before others write there
}

PeerGroup::~PeerGroup() {
  bool have_met = false;
  if (std::uncaught_exceptions() > 0) {
    give_up();
  } else if (is_linked_ && !ends_with_process_) {
    try {
      meet_and_wait();
      have_met = true;
    } catch (const std::exception&) {
      // as where ranks do not meet
    }
  }
  // What others may have a way to still is left to the end of the process, as are words that kernels read.
  (void)new std::shared_ptr<void>(board_memory_.own());
  (void)new std::shared_ptr<unsigned>(given_up_);
  if (!have_met) (void)new std::vector<Shared>(std::move(shared_));
}

std::string PeerGroup::offer() const { return bytes_of(board_memory_.offer()); }

bool PeerGroup::open(std::span<const std::string> offers) {
  std::vector<MemoryOffer> found(offers.size());
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    if (offers[rank].size() != sizeof(MemoryOffer)) return false;
    std::memcpy(&found[rank], offers[rank].data(), sizeof(MemoryOffer));
    processes_.push_back(found[rank].process + rank);
  }
  if (!board_memory_.open(found, static_cast<int>(boards_.rank))) return false;
  auto next = board_memory_.others().begin();
  for (unsigned rank = 0; rank < boards_.num_ranks; ++rank)
    if (rank != boards_.rank) boards_.of[rank] = static_cast<PeerBoard*>(*next++);
  post_notice(boards_, 0, std::as_bytes(std::span(&processes_[boards_.rank], 1)), nullptr);
  TESSERA_CUDA_CALL(cudaStreamSynchronize(nullptr));
  return true;
}

bool PeerGroup::hears_all() { return read_notices<std::uint64_t>(0) == processes_; }

void PeerGroup::meet() {
  require(is_linked_, "the GPUs are linked, and no rank has been given up");
  cuda::meet(boards_, ++num_meetings_, kMeetingSeconds, given_up_.get(), nullptr);
}

void PeerGroup::meet_and_wait() {
  DeviceEvent begun(cudaEventDisableTiming), done(cudaEventDisableTiming);
  begun.record(nullptr);
  meet();
  done.record(nullptr);
  wait(begun.get(), done.get());
}

template <class T>
std::vector<T> PeerGroup::read_notices(unsigned page) const {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kNoticeBytes);
  unsigned char notices[kMostSharingRanks][kNoticeBytes];
  TESSERA_CUDA_CALL(cudaMemcpy(notices, own_board()->notices[page], sizeof notices, cudaMemcpyDeviceToHost));
  std::vector<T> all(boards_.num_ranks);
  for (std::size_t rank = 0; rank < all.size(); ++rank) std::memcpy(&all[rank], notices[rank], sizeof(T));
  return all;
}

template <class T>
std::vector<T> PeerGroup::gathered(const T& mine) {
  // Pages take turns: who is ahead writes the one while others still read the other, and comes no further.
  const auto page = static_cast<unsigned>(++num_gathered_ % 2);
  post_notice(boards_, page, std::as_bytes(std::span(&mine, 1)), nullptr);
  meet_and_wait();
  return read_notices<T>(page);
}

std::shared_ptr<PeerMemory> PeerGroup::allocate(std::uint64_t num_bytes) {
  try {
    return std::make_shared<PeerMemory>(num_bytes);
  } catch (const NoRoomError&) {
    return nullptr;
  }
}

std::vector<MemoryOffer> PeerGroup::exchange_offers(const MemoryOffer& mine) {
  Sharing sharing{.offer = mine};
  while (sharing.first_in_use < shared_.size() && shared_[sharing.first_in_use].user.expired())
    ++sharing.first_in_use;
  std::vector<MemoryOffer> offers;
  std::uint64_t first_in_use = sharing.first_in_use;  // by any rank
  for (const Sharing& its : gathered(sharing)) {
    offers.push_back(its.offer);
    first_in_use = std::min(first_in_use, its.first_in_use);
  }
  for (std::uint64_t i = 0; i < first_in_use; ++i) shared_[i].own = nullptr;
  return offers;
}

void PeerGroup::require_room(bool has_room, std::uint64_t num_bytes) {
  const std::vector<int> have_room = gathered(int{has_room});  // int: Buffers of bool are none
  const auto without = std::ranges::find(have_room, 0);
  if (without != have_room.end())
    throw NoRoomError("the GPU of rank " + std::to_string(without - have_room.begin()) + " has no room for " +
                      std::to_string(num_bytes) +
                      " bytes of inputs; use --precision f32, more GPUs or --backend cpu");
}

std::shared_ptr<PeerMemory> PeerGroup::share_memory(std::uint64_t num_bytes) {
  const std::shared_ptr<PeerMemory> memory = allocate(num_bytes);
  require_room(memory != nullptr, num_bytes);
  const std::vector<MemoryOffer> offers = exchange_offers(memory->offer());
  shared_.push_back({memory->own(), memory});
  const std::vector<int> opened = gathered(int{memory->open(offers, static_cast<int>(boards_.rank))});
  if (std::ranges::find(opened, 0) == opened.end()) return memory;
  throw ResourceError("the GPUs have no way to more memory of each other's; use --exchange mpi");
}

bool PeerGroup::has_passed(cudaEvent_t event) {
  const cudaError_t status = cudaEventQuery(event);
  if (status == cudaSuccess) return true;
  if (status != cudaErrorNotReady)
    fail(std::string("CUDA: exchange between GPUs: ") + cudaGetErrorString(status));
  return false;
}

void PeerGroup::wait(cudaEvent_t begun, cudaEvent_t done) {
  while (!has_passed(begun)) {
    // This rank's own work before the exchange, as long as it takes.
  }
  const auto start = std::chrono::steady_clock::now();
  while (!has_passed(done) && seconds_since(start) <= kAnswerSeconds) {
  }
  if (!has_passed(done) || has_given_up())
    fail("the exchange between GPUs has not ended in " + std::to_string(static_cast<int>(kAnswerSeconds)) +
         " seconds: another rank is gone or has stopped");
}

bool PeerGroup::has_given_up() const { return *static_cast<const volatile unsigned*>(given_up_.get()) != 0; }

void PeerGroup::give_up() {
  *static_cast<volatile unsigned*>(given_up_.get()) = 1;
  is_linked_ = false;
}

void PeerGroup::fail(const std::string& message) {
  give_up();  // freeing memory would wait for a meeting that still waits
  throw LostRankError(message);
}

}  // namespace tessera::cuda
