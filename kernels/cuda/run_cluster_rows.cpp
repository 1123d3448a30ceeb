#include "kernels/cuda/run_cluster_rows.hpp"

#include "kernels/cuda/device_memory.hpp"

namespace tessera::cuda {
namespace {

template <class T>
Buffer<T> copied(const std::vector<T>& parts) {
  return on_device(std::span<const T>(parts));
}

}  // namespace

RunClusterRows::RunClusterRows(const ClusterDeal& deal)
    : blocks_(copied(deal.blocks)),
      tasks_(copied(deal.tasks)),
      sum_of_lane_(copied(deal.sum_of_lane)),
      words_(copied(deal.words)),
      rows_(copied(deal.rows)),
      most_(deal.most) {}

RunCluster RunClusterRows::view() const {
  return {.blocks = blocks_.data(),
          .tasks = tasks_.data(),
          .sum_of_lane = sum_of_lane_.data(),
          .words = words_.data(),
          .rows = rows_.data(),
          .most = most_};
}

}  // namespace tessera::cuda
