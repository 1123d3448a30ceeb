#include "engine/device_ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/devices.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

using Name = std::array<char, 256>;

/// `text` of every rank, cut to 255 characters.
std::vector<std::string> gather_names(const std::string& text, Communicator& comm) {
  Name mine{};
  text.copy(mine.data(), mine.size() - 1);
  std::vector<Name> all(static_cast<std::size_t>(comm.size()));
  const std::vector<std::uint64_t> counts(all.size(), 1);
  all_gather<Name>(comm, std::span<const Name>(&mine, 1), std::span<Name>(all), counts);
  std::vector<std::string> names;
  for (const Name& name : all) names.emplace_back(name.data());
  return names;
}

std::string problem_of_ranks(std::span<const std::string> problems, std::span<const std::string> uuids) {
  for (std::size_t r = 0; r < uuids.size(); ++r) {
    if (!problems[r].empty()) return fmt::format("rank {}: {}", r, problems[r]);
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

std::string assign_devices(Communicator& comm, const DeviceFinder& finder) {
  const std::vector<std::string> hosts = gather_names(finder.host_name(), comm);
  const std::size_t rank = static_cast<std::size_t>(comm.rank());
  const auto place = std::count(hosts.begin(), hosts.begin() + comm.rank(), hosts[rank]);
  std::string uuid, problem;
  run_together(comm, [&] {
    const int count = finder.count();
    if (count == 0) return;
    try {
      finder.use(static_cast<int>(place % count));
      problem = finder.problem();
    } catch (const ResourceError& error) {  // another program has it for itself
      problem = error.what();
    }
    if (problem.empty()) uuid = finder.uuid();
  });
  const std::vector<std::string> problems = gather_names(problem, comm);
  return problem_of_ranks(problems, gather_names(uuid, comm));
}

template <class S>
bool start_linking(Backend<S>& backend, Communicator& comm) {
  std::string id;
  run_together(comm, [&] {
    if (comm.is_root()) id = backend.link_id();
  });
  comm.broadcast(id, 0);
  if (id.empty()) return false;
  run_together(comm, [&] { backend.join(id, comm.rank(), comm.size()); });
  return true;
}

template bool start_linking(Backend<float>&, Communicator&);
template bool start_linking(Backend<double>&, Communicator&);

}  // namespace tessera
