#include "kernels/cuda/cuda_step_runs.hpp"

#include <optional>
#include <utility>

#include "kernels/base/error.hpp"

namespace tessera::cuda {
namespace {

template <class S>
RunMatrix<S> rows_of(const Matrix<S>& matrix, std::uint64_t num_scores) {
  const auto* runs = dynamic_cast<const RunsSteps<S>*>(&matrix);
  require(runs != nullptr, "a matrix whose steps run");
  const RunMatrix<S> rows = runs->run_matrix();
  require(num_scores <= rows.a.num_rows, "scores are more than the matrix has rows");
  return rows;
}

template <class S>
RunSide<S> side_of(const RunMatrix<S>& rows, RunKind kind, const RankVectors<S>& vectors) {
  if (kind == RunKind::windows) return {rows.a, {}, rows.windows, vectors};
  return {rows.a, rows.deal, {}, vectors};
}

template <class S, class Run>
DeviceRun<S, Run> device_run(const Run& run, const ExactScale& bound, bool squares, const SumsOutbox& box) {
  require(run.most_steps > 0 && run.most_steps <= Run::kMostSteps, "a run has some steps");
  DeviceRun<S, Run> how;
  how.run = run;
  how.bound = bound;
  how.squares = squares;
  how.box = box;
  return how;
}

template <class S>
void put_start(const RankVectors<S>& v, S* x) {
  put_inputs(v.before, v.are_masses ? nullptr : v.scale, v.places, 1, x);
}

double change_of(Norm norm, const VectorSums& sums, const ExactScale& bound) {
  return change_in(norm, sums.change_l1, sums.change_squares, sums.change_max, bound);
}

}  // namespace

template <class S>
void start_run(const Matrix<S>& matrix, const RankRun& run, const RankVectors<S>& vectors,
               const ExactScale& bound, bool squares, const SumsOutbox& box) {
  DeviceRun<S, RankRun> how = device_run<S>(run, bound, squares, box);
  const RunMatrix<S> rows = rows_of(matrix, vectors.num_rows);
  how.sides[0] = side_of(rows, kind_of_run(rows), vectors);
  how.memory = rows.memory;
  how.x = rows.x;
  how.other_x = rows.other_x;
  if (rows.cluster.blocks != nullptr && !squares) return run_in_cluster(how, {{rows.cluster}});
  put_start(vectors, how.x);
  run_steps(how);
}

template <class S>
void start_run(const PairSide<S> (&sides)[2], const PairRun& run, const ExactScale& bound, bool squares,
               const SumsOutbox& box) {
  require(run.first_norm >= run.norms[0].least, "a first norm that is known");
  DeviceRun<S, PairRun> how = device_run<S>(run, bound, squares, box);
  const RunMatrix<S> rows[] = {rows_of(sides[0].matrix, sides[0].start.size()),
                               rows_of(sides[1].matrix, sides[1].start.size())};
  const RunKind kind = kind_of_run(rows[0], rows[1]);
  require(kind != RunKind::none, "matrices that run in turn");
  for (unsigned side = 0; side < 2; ++side) {
    const PairSide<S>& from = sides[side];
    how.sides[side] =
        side_of(rows[side], kind,
                run_vectors<S>(from.start, {}, RowScale<S>::masses(from.masses), from.places, from.score));
    (side == 0 ? how.x : how.other_x) = rows[side].x;
    how.memory = rows[side].memory;
  }
  require(how.x != how.other_x, "two matrices");
  require((how.sides[0].a.values == nullptr) == (how.sides[1].a.values == nullptr),
          "weights in both matrices or in none");
  const RunClusters<S, 2> clusters{{rows[0].cluster, rows[1].cluster}};
  if (!squares && fit_in_cluster<S>(clusters)) return run_in_cluster(how, clusters);
  put_start(how.sides[1].vectors, how.x);
  run_steps(how);
}

template <class S>
RunKind kind_of_run(const RunMatrix<S>& rows) {
  const bool has_windows = rows.windows.num_windows > 0;
  return has_windows && (rows.prefers_windows || rows.deal.num_blocks == 0) ? RunKind::windows
                                                                            : RunKind::registers;
}

template <class S>
RunKind kind_of_run(const RunMatrix<S>& one, const RunMatrix<S>& other) {
  const bool have_windows = one.windows.num_windows > 0 && other.windows.num_windows > 0 &&
                            windows_fit<S>(one.windows.most, other.windows.most,
                                           room_for_windows<S>(one.a.values != nullptr)),
             have_deals = one.deal.num_blocks > 0 && other.deal.num_blocks > 0;
  if (have_windows && (!have_deals || (one.prefers_windows && other.prefers_windows)))
    return RunKind::windows;
  return have_deals ? RunKind::registers : RunKind::none;
}

template <class S>
RankVectors<S> run_vectors(const Buffer<S>& start, const Buffer<S>& jump, const RowScale<S>& scale,
                           const InputPlaces& places, Buffer<S>& score) {
  require(start.size() == score.size() && start.data() != score.data(), "a run ends in another vector");
  return {.y = {},
          .jump = jump.empty() ? nullptr : jump.data(),
          .scale = scale.numbers(),
          .are_masses = scale.are_masses(),
          .before = start.data(),
          .score = score.data(),
          .num_rows = score.size(),
          .places = places};
}

PendingSteps steps_of(const RankRun& run, const ExactScale& bound, SumsMailbox& mailbox,
                      std::uint32_t number) {
  const auto next = [=, &mailbox, count = 0U, is_over = false]() mutable -> std::optional<VectorSums> {
    if (is_over) return std::nullopt;
    const VectorSums sums = mailbox.receive(number, count++);
    is_over = run.ends_after(count, change_of(run.norm, sums, bound));
    return sums;
  };
  return PendingSteps(next);
}

PendingSteps steps_of(const PairRun& run, const ExactScale& bound, SumsMailbox& mailbox,
                      std::uint32_t number) {
  const auto next = [=, &mailbox, count = 0U, change = 0.0,
                     is_over = false]() mutable -> std::optional<VectorSums> {
    if (is_over) return std::nullopt;
    const VectorSums sums = mailbox.receive(number, count++);
    const double before = std::exchange(change, change_of(run.norm, sums, bound));
    is_over = run.ends_after(count, change, before, run.norm_after(count, sums.dangling, bound));
    return sums;
  };
  return PendingSteps(next);
}

#define TESSERA_INSTANTIATE(S)                                                                              \
  template RunKind kind_of_run(const RunMatrix<S>&);                                                        \
  template RunKind kind_of_run(const RunMatrix<S>&, const RunMatrix<S>&);                                   \
  template void start_run(const Matrix<S>&, const RankRun&, const RankVectors<S>&, const ExactScale&, bool, \
                          const SumsOutbox&);                                                               \
  template void start_run(const PairSide<S>(&)[2], const PairRun&, const ExactScale&, bool,                 \
                          const SumsOutbox&);                                                               \
  template RankVectors<S> run_vectors(const Buffer<S>&, const Buffer<S>&, const RowScale<S>&,               \
                                      const InputPlaces&, Buffer<S>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cuda
