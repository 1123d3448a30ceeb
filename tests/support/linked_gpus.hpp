// A GPU for each rank of thread_ranks.hpp, linked as those of processes are.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/devices.hpp"
#include "partition/communicator.hpp"
#include "tests/support/link_devices.hpp"

namespace tessera::test {

/// Linking takes a second, so groups are kept until clear(). Collective; of one rank: a backend without
/// links.
template <class S>
class LinkedGpus {
 public:
  static Backend<S>& of(Communicator& comm) {
    use_device(comm.rank());  // of this thread
    const std::pair key{comm.size(), comm.rank()};
    {
      const std::lock_guard lock(mutex());
      if (const auto found = all().find(key); found != all().end()) return *found->second;
    }
    auto backend = make_backend<S>("cuda");
    if (comm.size() > 1) link_devices(*backend, comm);
    const std::lock_guard lock(mutex());
    return *(all()[key] = std::move(backend));
  }
  /// Ranks of a group at once, as they meet before they end; one group after the other.
  static void clear() {
    std::vector<std::thread> ends;
    int size_of_group = 0;
    for (auto& [key, backend] : all()) {  // in the order of sizes
      const auto [num_ranks, rank] = key;
      if (std::exchange(size_of_group, num_ranks) != num_ranks) join(ends);
      ends.emplace_back([rank = rank, ended = std::move(backend)]() mutable {
        use_device(rank);
        ended = nullptr;
      });
    }
    join(ends);
    all().clear();
  }

 private:
  static void join(std::vector<std::thread>& threads) {
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }
  static std::map<std::pair<int, int>, std::unique_ptr<Backend<S>>>& all() {
    static std::map<std::pair<int, int>, std::unique_ptr<Backend<S>>> map;
    return map;
  }
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
};

}  // namespace tessera::test
