// A GPU for each rank of thread_ranks.hpp, linked as those of processes are.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <utility>

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
  static void clear() { all().clear(); }

 private:
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
