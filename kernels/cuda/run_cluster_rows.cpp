#include "kernels/cuda/run_cluster_rows.hpp"

#include "kernels/cuda/device_memory.hpp"

namespace tessera::cuda {
namespace {

template <class T>
Buffer<T> copied(const std::vector<T>& parts) {
  return on_device(std::span<const T>(parts));
}

/// In the order of the deal, with 0 where there is no element.
template <class S>
Buffer<S> values_of(const ClusterDeal& deal, std::span<const S> values) {
  if (!deal.most.weighted) return {};
  std::vector<S> dealt(deal.elements.size(), S{0});
  for (std::size_t i = 0; i < dealt.size(); ++i)
    if (deal.elements[i] != kNoClusterElement) dealt[i] = values[deal.elements[i]];
  return copied(dealt);
}

}  // namespace

template <class S>
RunClusterRows<S>::RunClusterRows(const ClusterDeal& deal, std::span<const S> values)
    : blocks_(copied(deal.blocks)),
      tasks_(copied(deal.tasks)),
      sum_of_lane_(copied(deal.sum_of_lane)),
      words_(copied(deal.words)),
      values_(values_of(deal, values)),
      rows_(copied(deal.rows)),
      most_(deal.most) {}

template <class S>
RunCluster<S> RunClusterRows<S>::view() const {
  return {.blocks = blocks_.data(),
          .tasks = tasks_.data(),
          .sum_of_lane = sum_of_lane_.data(),
          .words = words_.data(),
          .values = values_.data(),
          .rows = rows_.data(),
          .most = most_};
}

template class RunClusterRows<float>;
template class RunClusterRows<double>;

}  // namespace tessera::cuda
