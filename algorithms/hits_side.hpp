// Half-steps of HITS, one by one: a product, its norm, and the update by it.
#pragma once
#include <algorithm>
#include <limits>
#include <utility>

#include "algorithms/hits_norm.hpp"
#include "algorithms/vertex_values.hpp"
#include "engine/spmv_operator.hpp"

namespace tessera {

/// A product, the scores that come of it, and what it reads.
template <class S>
struct HitsSide {
  HitsSide(SpmvOperator<S>& product, Buffer<S> start, ScoreNorm normalize)
      : op(&product), x(product.make_x()), y(product.make_y()), score(std::move(start)) {
    if (normalize == ScoreNorm::sum) columns = column_sums(product, x, y);
  }
  /// The product's inputs are scores of `before`, whose columns are final now.
  void follow(const HitsSide& before) {
    least_norm = before.columns.least_norm(before.op->num_rows());
    joins = before.columns.are_known() && op->prepare_to_end_with_updates();
  }

  SpmvOperator<S>* op;
  Buffer<S> x;
  Buffer<double> y;
  Buffer<S> score;
  ColumnSums<S> columns;  ///< that the scores meet in the next product
  bool joins = false;     ///< products may end in updates
  double largest = 0;     ///< of the last product that was looked at
  double norm = 0;        ///< of the product, as the update of its inputs has found it
  double least_norm = std::numeric_limits<double>::infinity();  ///< that is found well enough
  bool norm_is_known = false;  ///< no look is needed, as far as the product before tells
  bool is_started = false;     ///< the product, whose inputs are where they are sent from

  bool ends_in_update() const { return joins && norm_is_known; }
  bool may_run() { return columns.are_known() && !joins && op->prepare_to_run_steps(); }
  /// Once the norm and the inputs are there: whether it is that, or else the product is made for a look.
  void look_if_small() {
    if (!norm_is_known || norm >= least_norm) return;
    if (ends_in_update()) op->start(x, y);
    norm_is_known = false;
  }
  void start() {
    op->send(x);
    if (ends_in_update())
      op->begin_for_update(x);
    else
      op->start(x, y);
    is_started = true;
  }
};

/// score = the product of `side`, scaled to `size`, which goes to the inputs of `next`. By its norm, which is
/// known.
template <class S>
PendingSums update_by_known_norm(HitsSide<S>& side, HitsSide<S>& next, bool squares, double size,
                                 Buffer<S>& score) {
  const double factor = size / side.norm;
  const auto masses = RowScale<S>::masses(side.columns.sums);
  const InputTarget<S> inputs = next.op->input_target(next.x);
  if (side.ends_in_update())
    return side.op->end_with_update({.link = factor}, masses, hits_scale(), squares, score, inputs);
  return side.op->backend().rank_update({.link = factor}, side.y, side.op->row_places(), {}, masses,
                                        hits_scale(), squares, score, inputs);
}

/// The same, by a look at the product. The norm of the next one is found here, too, but where the device goes
/// on by itself.
template <class S>
PendingSums update_by_look(HitsSide<S>& side, HitsSide<S>& next, const HitsOptions& options, double size,
                           Buffer<S>& score) {
  Backend<S>& backend = side.op->backend();
  const bool squares = options.stop.norm == Norm::l2;
  const RowPlaces places = side.op->row_places();
  const InputTarget<S> inputs = next.op->input_target(next.x);
  if (!side.columns.are_known() && side.op->comm().size() == 1 && side.largest > 0) {
    NormedUpdate update = backend.normed_update(step_after(options.normalize, side.largest), size, side.y,
                                                places, hits_scale(), squares, score, inputs);
    side.largest = update.norm.largest;
    if (update.sums) return *std::move(update.sums);
  }
  const double factor = size * norm_factor(*side.op, side.y, options.normalize, side.largest);
  return backend.rank_update({.link = factor}, side.y, places, {}, RowScale<S>::masses(side.columns.sums),
                             hits_scale(), squares, score, inputs);
}

/// Of the product that `side`'s scores are the inputs of.
template <class S>
double next_norm(const HitsSide<S>& side, const VectorSums& sums) {
  return side.columns.unit * hits_scale().value(sums.dangling);
}

/// The scores `score` of `side`'s product, scaled to `size`; the product of `next` is started where that
/// pays.
template <class S>
StepChange advance(HitsSide<S>& side, HitsSide<S>& next, const HitsOptions& options, double size,
                   Buffer<S>& score) {
  if (!side.is_started) side.start();
  side.is_started = false;
  side.op->wait_for_inputs();
  side.look_if_small();
  PendingSums pending = side.norm_is_known
                            ? update_by_known_norm(side, next, options.stop.norm == Norm::l2, size, score)
                            : update_by_look(side, next, options, size, score);
  // From now on rows without links are 0.
  score.truncate(std::min(score.size(), side.op->num_connected_rows()));
  next.norm_is_known = next.norm >= next.least_norm;  // the next one's is still on its way
  if (next.op->works_ahead()) next.start();           // in vain after the last step
  VectorSums sums = pending.take().front();
  reduce_over_ranks({&sums, 1}, side.op->comm());
  next.norm = next_norm(side, sums);
  return change_of(options.stop.norm, sums, hits_scale());
}

}  // namespace tessera
