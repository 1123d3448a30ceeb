// Is the dominant pair of HITS unique? Hubs that share an authority, directly or in a chain, form a
// component; inside one, A A^T is irreducible with a positive diagonal, so by Perron and Frobenius its
// largest eigenvalue is simple. Several dominant pairs exist exactly when several components tie, and the
// power iteration, started from a positive vector, keeps mass on each of them. So: spread marks from the
// largest hub until its component is full, and look at the hub mass that lies outside.
#pragma once
#include <functional>
#include <span>

#include "algorithms/convergence.hpp"
#include "algorithms/hits_side.hpp"

namespace tessera {

/// What marks have reached by a step.
struct SpreadStep {
  double mass = 0, outside = 0;  ///< of all hubs, and of those without mark
  bool grew = false;             ///< vertices were marked that had not been
};

/// `spread` makes a step from marks to the vertices that share an authority with a marked one, and starts
/// from the largest hub. last_change: of the last step of HITS, in L1; rate: by which changes shrink a step,
/// 0 if that is not known. False when the mass outside the largest hub's component is more than what a slower
/// component leaves behind.
bool has_unique_pair(double last_change, double rate, int max_steps,
                     const std::function<SpreadStep()>& spread);

/// Shrinking of the change a step, from the last eight changes; 0 when they end in 0.
double convergence_rate(std::span<const double> residual_history, int steps_apart);

/// Marks of the first `num_rows` local rows of `op`, all 0 but for the row with the largest score, which is
/// 1; `scores` are of local rows. Collective.
template <class S>
Buffer<S> mark_of_largest(const SpmvOperator<S>& op, const Buffer<S>& scores, std::uint64_t num_rows) {
  Backend<S>& backend = op.backend();
  Buffer<S> marks = backend.template allocate<S>(num_rows);
  backend.clear(marks);
  const BestScores best = op.best(scores, 1);
  const VertexId row = best.vertices.empty() ? kNoVertex : op.local_index(best.vertices.front());
  const S mark = 1;
  if (row < num_rows) backend.upload(&mark, marks.data() + row, sizeof(S));
  return marks;
}

/// Half a step: marks, which lie where the product of `side` reads its inputs from, go to `marks` of its
/// rows, and with those that are there already to where `next` reads. masses: of the rows that are hubs, may
/// be empty. Collective.
template <class S>
SpreadStep spread_marks(HitsSide<S>& side, HitsSide<S>& next, const Buffer<S>& masses, Buffer<S>& marks) {
  side.op->send(side.x);
  side.op->apply(side.x, side.y);
  VectorSums sums = side.op->backend()
                        .mark_rows(side.y, side.op->row_places(), masses, hits_scale(), marks,
                                   next.op->input_target(next.x))
                        .take()
                        .front();
  reduce_over_ranks({&sums, 1}, side.op->comm());
  return {.mass = hits_scale().value(sums.total),
          .outside = hits_scale().value(sums.dangling),
          .grew = hits_scale().value(sums.change_l1) > 0};
}

}  // namespace tessera
