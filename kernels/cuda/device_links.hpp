// The links of a backend's device to those of other ranks, of whichever kind (kernels/backend.hpp says what
// each of these is for).
#pragma once
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "kernels/base/error.hpp"
#ifdef TESSERA_HAVE_NCCL
#include "kernels/cuda/nccl_exchange.hpp"
#endif
#include "kernels/cuda/peer_exchange.hpp"

namespace tessera::cuda {

class DeviceLinks {
 public:
  std::string peer_offer(int rank, int num_ranks) {
    const bool is_wanted = wants_peers(std::getenv("NCCL_P2P_DISABLE"), std::getenv("NCCL_P2P_LEVEL"));
    if (!is_wanted || num_ranks > kMostSharingRanks) return {};
    try {
      peers_ = std::make_shared<PeerGroup>(rank, num_ranks);
    } catch (const NoRoomError&) {
      return {};
    }
    return peers_->offer();
  }
  bool open_peers(std::span<const std::string> offers) { return peers_ != nullptr && peers_->open(offers); }
  bool hears_peers() const { return peers_ != nullptr && peers_->hears_all(); }
  void settle_peers(bool are_linked) {
    if (are_linked) return peers_->link();
    peers_ = nullptr;
  }
  template <class S>
  std::shared_ptr<Exchange<S>> make_exchange(ExchangePlan plan) const {
    if (are_peers()) return std::make_shared<PeerExchange<S>>(peers_, std::move(plan));
#ifdef TESSERA_HAVE_NCCL
    if (group_ != nullptr) return std::make_shared<NcclExchange<S>>(group_, std::move(plan));
#endif
    return nullptr;
  }

#ifdef TESSERA_HAVE_NCCL
  static std::string id() { return new_nccl_id(); }
  void join(const std::string& id, int rank, int num_ranks) {
    group_ = std::make_shared<NcclGroup>(id, rank, num_ranks);
  }
  void await() const {
    if (group_ != nullptr) group_->await_ranks();
  }
  bool exist() const { return are_peers() || group_ != nullptr; }
  void leave_to_exit() const {
    if (peers_ != nullptr) peers_->leave_to_exit();
    if (group_ != nullptr) group_->leave_to_exit();
  }
#else
  static std::string id() { return {}; }
  static void join(const std::string&, int, int) { throw InternalError("this build has no NCCL"); }
  static void await() {}
  bool exist() const { return are_peers(); }
  void leave_to_exit() const {
    if (peers_ != nullptr) peers_->leave_to_exit();
  }
#endif

 private:
  bool are_peers() const { return peers_ != nullptr && peers_->is_linked(); }

  std::shared_ptr<PeerGroup> peers_;
#ifdef TESSERA_HAVE_NCCL
  std::shared_ptr<NcclGroup> group_;
#endif
};

}  // namespace tessera::cuda
