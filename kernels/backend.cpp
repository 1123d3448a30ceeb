// Which backends this build has: the one place that knows.
#include "kernels/backend.hpp"

#include "kernels/base/error.hpp"
#include "kernels/base/seconds_since.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#ifdef TESSERA_HAVE_CUDA
#include "kernels/cuda/cuda_backend.hpp"
#endif

namespace tessera {

std::vector<std::string> backend_names() {
#ifdef TESSERA_HAVE_CUDA
  return {"auto", "cpu", "cuda"};
#else
  return {"auto", "cpu"};
#endif
}

template <class S>
void Backend<S>::join(const std::string&, int, int) {
  throw InternalError("the devices of this backend cannot be linked");
}
template <class S>
PendingSums Backend<S>::end_with_update(const Matrix<S>&, const EndingUpdate&, const RowScale<S>&,
                                        const ExactScale&, bool, Buffer<S>&, const InputTarget<S>&) {
  throw InternalError("this backend does not end products with updates");
}
template <class S>
PendingSteps Backend<S>::run_rank_steps(const Matrix<S>&, const RankRun&, const Buffer<S>&, const Buffer<S>&,
                                        const RowScale<S>&, const ExactScale&, bool, const InputPlaces&,
                                        Buffer<S>&) {
  throw InternalError("this backend does not run ranks");
}
template <class S>
PendingSteps Backend<S>::run_pair_steps(const PairRun&, const PairSide<S> (&)[2], const ExactScale&, bool) {
  throw InternalError("this backend does not run pairs");
}
template <class S>
PendingSums Backend<S>::step_walks(const Matrix<S>&, const WalkUpdate<S>&, const Buffer<S>&, const Buffer<S>&,
                                   Buffer<S>&, const InputTarget<S>&, const Buffer<S>*) {
  throw InternalError("this backend does not step walks in one go");
}
template <class S>
NormedUpdate Backend<S>::normed_update(const NormStep& step, double size, const Buffer<double>& y,
                                       const RowPlaces& places, const ExactScale& bound, bool squares,
                                       Buffer<S>& score, const InputTarget<S>& next) {
  const ExactScale scale = step.scale();
  const NormSums norm = norm_sums(y, step.squares(), scale);
  if (!step.covers(norm.largest)) return {norm, std::nullopt};
  return {norm, rank_update({.link = size * (1 / step.size(norm, scale))}, y, places, {}, {}, bound, squares,
                            score, next)};
}
template <class S>
std::shared_ptr<Exchange<S>> Backend<S>::make_exchange(ExchangePlan) {
  return nullptr;
}
template <class S>
std::vector<double> Backend<S>::time_runs(const std::function<void()>& work, int count) {
  std::vector<double> seconds;
  for (int i = 0; i < count; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    synchronize();
    seconds.push_back(seconds_since(start));
  }
  return seconds;
}
template class Backend<float>;
template class Backend<double>;

template <class S>
std::unique_ptr<Backend<S>> make_backend(const std::string& name) {
#ifdef TESSERA_HAVE_CUDA
  if (name == "cuda" || (name == "auto" && has_cuda_device())) return make_cuda_backend<S>();
#endif
  if (name == "cpu" || name == "auto") return make_cpu_backend<S>();
  std::string known;
  for (const std::string& backend : backend_names()) known += (known.empty() ? "" : ", ") + backend;
  throw OptionError("unknown backend \"" + name + "\"; this build has " + known);
}

template std::unique_ptr<Backend<float>> make_backend(const std::string&);
template std::unique_ptr<Backend<double>> make_backend(const std::string&);

}  // namespace tessera
