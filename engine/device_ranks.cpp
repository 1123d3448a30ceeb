#include "engine/device_ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/devices.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

/// `text` of every rank.
std::vector<std::string> gather_texts(const std::string& text, Communicator& comm) {
  const std::vector<std::uint64_t> sizes = all_gather(comm, std::uint64_t{text.size()});
  std::string joined(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}), '\0');
  all_gather<char>(comm, text, joined, sizes);
  std::vector<std::string> texts;
  std::size_t next = 0;
  for (const std::uint64_t size : sizes) {
    texts.push_back(joined.substr(next, size));
    next += size;
  }
  return texts;
}

/// The problem that find() gives, or throws as ResourceError, of the first rank that has one; or nothing.
std::string problem_of_ranks(Communicator& comm, const std::function<std::string()>& find) {
  std::string problem;
  run_together(comm, [&] {
    try {
      problem = find();
    } catch (const ResourceError& error) {  // as of a device that another program has for itself
      problem = error.what();
    }
  });
  const std::vector<std::string> problems = gather_texts(problem, comm);
  for (std::size_t r = 0; r < problems.size(); ++r)
    if (!problems[r].empty()) return fmt::format("rank {}: {}", r, problems[r]);
  return {};
}

std::string problem_of_sharing(std::span<const std::string> uuids) {
  for (std::size_t r = 0; r < uuids.size(); ++r) {
    if (uuids[r].empty())
      return fmt::format("rank {} finds no GPU; use --backend cpu, or start it where CUDA devices answer", r);
    const auto first =
        static_cast<std::size_t>(std::find(uuids.begin(), uuids.end(), uuids[r]) - uuids.begin());
    if (first < r)
      return fmt::format(
          "ranks {} and {} would share one GPU ({}); start no more processes on a machine than it has GPUs, "
          "or use "
          "--backend cpu",
          first, r, uuids[r]);
  }
  return {};
}

}  // namespace

DeviceFinder this_machine() {
  return {num_devices, use_device, device_problem, device_uuid, [] {
            std::array<char, 256> name{};
            if (gethostname(name.data(), name.size() - 1) != 0) return std::string("?");
            return std::string(name.data());
          }};
}

OwnDevice own_device(Communicator& comm, const DeviceFinder& finder) {
  const std::vector<std::string> hosts = gather_texts(finder.host_name(), comm);
  const auto place =
      std::count(hosts.begin(), hosts.begin() + comm.rank(), hosts[static_cast<std::size_t>(comm.rank())]);
  OwnDevice own;
  std::string uuid;
  own.problem = problem_of_ranks(comm, [&]() -> std::string {
    const int count = finder.count();
    if (count == 0) return {};
    own.index = static_cast<int>(place % count);
    uuid = finder.uuid(own.index);
    return {};
  });
  if (own.problem.empty()) own.problem = problem_of_sharing(gather_texts(uuid, comm));
  return own;
}

std::string assign_devices(Communicator& comm, const DeviceFinder& finder) {
  const OwnDevice own = own_device(comm, finder);
  if (!own.problem.empty()) return own.problem;
  return problem_of_ranks(comm, [&] {
    finder.use(own.index);
    return finder.problem();
  });
}

namespace {

template <class S>
bool link_peers(Backend<S>& backend, Communicator& comm) {
  std::string mine;
  run_together(comm, [&] { mine = backend.peer_offer(comm.rank(), comm.size()); });
  const std::vector<std::string> offers = gather_texts(mine, comm);
  const bool all_offer = std::ranges::none_of(offers, &std::string::empty);
  const auto works_for_all = [&](const auto& step) {
    bool works = false;
    run_together(comm, [&] { works = step(); });
    return all_true(comm, works);
  };
  const bool are_linked = all_offer && works_for_all([&] { return backend.open_peers(offers); }) &&
                          works_for_all([&] { return backend.hears_peers(); });
  backend.settle_peers(are_linked);
  return are_linked;
}

}  // namespace

template <class S>
bool start_linking(Backend<S>& backend, Communicator& comm, LinkKind kind) {
  if (kind == LinkKind::any && link_peers(backend, comm)) return true;
  std::string id;
  run_together(comm, [&] {
    if (comm.is_root()) id = backend.link_id();
  });
  comm.broadcast(id, 0);
  if (id.empty()) return false;
  run_together(comm, [&] { backend.join(id, comm.rank(), comm.size()); });
  return true;
}

template bool start_linking(Backend<float>&, Communicator&, LinkKind);
template bool start_linking(Backend<double>&, Communicator&, LinkKind);

}  // namespace tessera
