#include "algorithms/random_walk_restart.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/step_acceleration.hpp"
#include "algorithms/vertex_values.hpp"
#include "engine/score_order.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

bool may_accelerate(const RwrOptions& options) {
  return options.accelerate && options.stop.fixed_iterations == 0;
}

/// Of changes and, for that norm, their squares: plain ones are at most 2, and accelerated ones within the
/// headroom.
ExactScale scale_of_changes(const RwrOptions& options) {
  constexpr double kMost = StepAcceleration::kMostChange;
  static_assert(kMost * kMost <= 2 * ExactScale::kHeadroom);
  return ExactScale(options.stop.norm == Norm::l2 ? 4 : 2);
}

/// Roundings of a score in its update: of f32 scores when they are stored. In f64 of the product with the
/// probability and of the sum with the restart; two more of the out-weights, which are sums.
constexpr int update_roundings(Precision precision) { return precision == Precision::f32 ? 1 : 4; }

/// A block of walks that goes through the matrix together; finished walks leave it. Behind them may be
/// vectors that nobody asks for, up to a width that the matrix is faster with: of 0, or copies of a walk once
/// others have left.
template <class S>
class WalkBlock {
 public:
  WalkBlock(SpmvOperator<S>& op, const Buffer<S>& scale, std::span<const VertexId> queries,
            const RwrOptions& options, std::span<RwrResult> results)
      : op_(op),
        scale_(scale),
        options_(options),
        scale_of_changes_(scale_of_changes(options)),
        results_(results) {
    for (std::size_t q = 0; q < queries.size(); ++q) {
      walks_.push_back({q, StopTest(options.stop, precision_of<S>(), options.continue_probability),
                        StepAcceleration(options.continue_probability, unit_roundoff(precision_of<S>()))});
      restart_rows_.push_back(op.local_index(queries[q]));
    }
    const auto is_unconnected = [&](VertexId row) {
      return row != kNoVertex && row >= op.num_connected_rows();
    };
    width_ = op.block_width(static_cast<unsigned>(walks_.size()));
    restart_rows_.resize(width_, kNoVertex);
    // No walk comes to a row without links, if none starts there.
    num_rows_ = std::any_of(restart_rows_.begin(), restart_rows_.end(), is_unconnected)
                    ? op.num_local_rows()
                    : op.num_connected_rows();
    put_start();
    spare_ = op.backend().template allocate<S>(walk_.size());
    x_ = op.make_x(num_vectors());
    num_slots_ = x_.size() / width_;
    joined_ = width_ == 1 && op.prepare_to_end_with_updates();
    choose_product();
    put_restart_rows();
    choose_weights();
    start_product();
  }

  /// Steps until every walk has ended; false when the observer stopped it.
  bool run() {
    while (!walks_.empty())
      if (!step()) return false;
    return true;
  }

 private:
  struct Walk {
    std::size_t query;
    StopTest stop;
    StepAcceleration acceleration;
    double weight = 1, next_weight = 1;  // of the step that was made last, and of the one under way
  };

  unsigned num_vectors() const { return width_; }
  void put_start() {
    const std::uint64_t k = width_;
    walk_ = op_.backend().template allocate<S>(num_rows_ * k);
    op_.backend().clear(walk_);
    const S all = 1;
    for (std::uint64_t q = 0; q < k; ++q)
      if (restart_rows_[q] != kNoVertex)
        op_.backend().upload(&all, walk_.data() + restart_rows_[q] * k + q, sizeof all);
  }
  /// How the steps of so many vectors are made, and room for that.
  void choose_product() {
    in_one_go_ = !joined_ && op_.steps_walks(width_);
    if (in_one_go_) {
      if (next_x_.empty()) next_x_ = op_.make_x(width_);
      op_.backend().clear(spare_);
      return;
    }
    next_x_ = {};
    if (joined_ || !y_.empty()) return;
    y_ = op_.make_y(width_);
    num_products_ = y_.size() / width_;
  }
  void start_product() {
    op_.replicate(walk_, &scale_, x_, num_vectors());
    multiply();
  }
  /// The product after update(), which has left its inputs where they are sent from.
  void start_next_product() {
    op_.send(x_, num_vectors());
    multiply();
  }
  void put_restart_rows() {
    rows_on_backend_ = op_.backend().template allocate<VertexId>(restart_rows_.size());
    op_.backend().upload(restart_rows_.data(), rows_on_backend_.data(), rows_on_backend_.size_bytes());
  }
  void multiply() {
    if (joined_)
      op_.begin_for_update(x_);
    else if (in_one_go_)
      stepped_ = op_.step_walks(rule(), x_, walk_, spare_, next_x_, origin());
    else
      op_.start(x_, y_, num_vectors());
  }
  WalkUpdate<S> rule() const {
    const double c = options_.continue_probability;
    return {c, 1 - c, rows_on_backend_, scale_, scale_of_changes_, options_.stop.norm == Norm::l2, weights_};
  }
  Buffer<S>* origin() { return weights_.empty() ? nullptr : &before_; }
  PendingSums update();
  void choose_weights();
  /// Behind the walks' own 1: what was a copy of a walk goes on by plain steps.
  void put_weights(bool accelerates) {
    weights_.assign(accelerates ? width_ : 0, 1.0);
    for (std::size_t q = 0; q < weights_.size() && q < walks_.size(); ++q)
      weights_[q] = walks_[q].next_weight;
  }
  void keep_where_steps_begin();
  bool step();
  void finish(unsigned q);
  void keep_only(const std::vector<unsigned>& kept);

  SpmvOperator<S>& op_;
  const Buffer<S>& scale_;
  const RwrOptions& options_;
  const ExactScale scale_of_changes_;
  std::span<RwrResult> results_;
  std::vector<Walk> walks_;
  unsigned width_ = 0;
  std::vector<VertexId> restart_rows_;  // of all vectors
  std::uint64_t num_rows_ = 0, num_slots_ = 0, num_products_ = 0;
  Buffer<S> walk_, spare_, x_, next_x_;
  std::vector<double> weights_;  // of all vectors in the step under way, if it is part of an acceleration
  Buffer<S> before_;             // where the step that was made last began, if it was part of one
  Buffer<double> y_;
  Buffer<VertexId> rows_on_backend_;  // restart_rows_
  bool joined_ = false;               // products end in updates
  bool in_one_go_ = false;            // a step is product and update, from walk_ and x_ to spare_ and next_x_
  std::optional<PendingSums> stepped_;
};

template <class S>
PendingSums WalkBlock<S>::update() {
  op_.wait_for_inputs();
  for (Walk& walk : walks_) walk.weight = walk.next_weight;
  const WalkUpdate<S> rule = this->rule();
  if (joined_)
    return op_.end_with_update(
        {.link = rule.link, .restart = rule.restart, .restart_row = restart_rows_.front()}, scale_,
        rule.bound, rule.squares, walk_, op_.input_target(x_));
  if (in_one_go_) {
    walk_.swap(spare_);
    x_.swap(next_x_);
    if (origin() != nullptr) before_.swap(spare_);
    return *std::exchange(stepped_, std::nullopt);
  }
  return op_.backend().walk_update(rule, y_, op_.row_places(), walk_, op_.input_target(x_, num_vectors()),
                                   origin());
}

/// Of the next step. Before the sums of this one are looked at, so that a device may work ahead.
template <class S>
void WalkBlock<S>::choose_weights() {
  const bool accelerates =
      std::any_of(walks_.begin(), walks_.end(), [](const Walk& walk) { return walk.acceleration.is_on(); });
  for (Walk& walk : walks_) walk.next_weight = walk.acceleration.weight();
  put_weights(accelerates);
  if (accelerates) keep_where_steps_begin();
}
/// No exchange is under way.
template <class S>
void WalkBlock<S>::keep_where_steps_begin() {
  if (!before_.empty()) return;
  before_ = op_.backend().template allocate<S>(walk_.size());
  op_.backend().clear(before_);                         // rows that no step writes are 0 there, too
  if (std::exchange(joined_, false)) choose_product();  // products do not end in such updates
}

template <class S>
bool WalkBlock<S>::step() {
  const bool ahead = op_.works_ahead();
  PendingSums pending = update();
  choose_weights();
  if (ahead) start_next_product();  // in vain where a walk ends
  std::vector<VectorSums> sums = pending.take();
  reduce_over_ranks(sums, op_.comm());
  std::vector<unsigned> kept;
  IterationProgress progress{.iteration = 0, .residual = 0, .vectors_left = 0};
  std::vector<unsigned> ended;
  for (unsigned q = 0; q < walks_.size(); ++q) {
    IterationReport& report = results_[walks_[q].query].report;
    StepChange change = change_of(options_.stop.norm, sums[q], scale_of_changes_);
    change.magnitude = 1;
    const bool done = walks_[q].stop.done(change, report, {.is_accelerated = walks_[q].acceleration.is_on()});
    (done ? ended : kept).push_back(q);
    if (may_accelerate(options_)) walks_[q].acceleration.take(change.l1);
    progress.iteration = report.iterations;
    progress.residual = std::max(progress.residual, report.residual);
  }
  progress.vectors_left = static_cast<int>(kept.size());
  const bool go_on = all_go_on(options_.observer, progress, op_.comm());
  if (!ended.empty() || !go_on) op_.wait_for_inputs();
  for (unsigned q : ended) finish(q);
  if (!go_on) {
    for (unsigned q : kept) {
      results_[walks_[q].query].report.interrupted = true;
      finish(q);
    }
    return false;
  }
  if (!ended.empty()) keep_only(kept);
  if (walks_.empty()) return true;
  if (!ended.empty())
    start_product();
  else if (!ahead)
    start_next_product();
  return true;
}

template <class S>
void WalkBlock<S>::finish(unsigned q) {
  RwrResult& result = results_[walks_[q].query];
  const double c = options_.continue_probability;
  // How far off an accelerated step ended is not known: scores are those that it began with, whose residual
  // is its change, so that their bound is that of what a plain step from there ends at, without its factor c.
  const bool is_accelerated = walks_[q].weight != 1;
  const Buffer<S>& scores = is_accelerated ? before_ : walk_;
  if (options_.top)
    result.best = op_.best(scores, *options_.top, num_vectors(), q);
  else
    result.scores = op_.to_original(scores, num_vectors(), q);
  if (walks_[q].acceleration.has_begun()) raise_negatives(result.scores);
  const double change = result.report.residual_l1 / (is_accelerated ? c : 1);
  result.error_bound = bound_of_error(c, change, update_roundings(precision_of<S>()),
                                      op_.product_roundings(width_), precision_of<S>());
}

template <class S>
void WalkBlock<S>::keep_only(const std::vector<unsigned>& kept) {
  if (kept.empty()) return walks_.clear();
  const unsigned k = op_.block_width(static_cast<unsigned>(kept.size()), width_);
  std::vector<unsigned> vectors = kept;
  vectors.resize(k, kept.front());
  const auto select = [&](Buffer<S>& block) {
    if (block.empty()) return;
    spare_.truncate(num_rows_ * k);
    op_.backend().select_vectors(block, num_vectors(), vectors, spare_);
    block.swap(spare_);
  };
  select(walk_);
  select(before_);
  spare_.truncate(num_rows_ * k);
  y_.truncate(num_products_ * k);
  x_.truncate(num_slots_ * k);
  next_x_.truncate(num_slots_ * k);
  // Slots and rows have moved: what must be 0 lies elsewhere now.
  op_.backend().clear(x_);
  op_.backend().clear(next_x_);
  op_.backend().clear(y_);
  std::vector<Walk> walks;
  std::vector<VertexId> rows;
  width_ = k;
  for (unsigned q : kept) {
    walks.push_back(walks_[q]);
    rows.push_back(restart_rows_[q]);
  }
  // Copies restart as their walk does: of rows without elements a step writes those where a walk restarts.
  rows.resize(k, rows.front());
  walks_ = std::move(walks);
  restart_rows_ = std::move(rows);
  put_restart_rows();
  put_weights(!weights_.empty());
  choose_product();
}

void check(const RwrOptions& options, std::span<const VertexId> queries, std::uint64_t num_vertices) {
  const double c = options.continue_probability;
  if (!(c >= 0 && c < 1))
    throw OptionError("the probability to continue must be at least 0 and below 1, found " +
                      std::to_string(c));
  if (options.batch_size == 0) throw OptionError("the batch size must be 1 or more");
  for (VertexId query : queries)
    if (query >= num_vertices)
      throw OptionError("query vertex " + std::to_string(query) + ": the graph has " +
                        std::to_string(num_vertices) + " vertices, from 0");
}

RwrResult not_begun(VertexId query, std::uint64_t num_vertices, std::optional<std::uint64_t> top) {
  RwrResult result;
  result.error_bound = 2;
  result.report.interrupted = true;
  if (!top) {
    result.scores.assign(num_vertices, 0.0);
    result.scores[query] = 1;
    return result;
  }
  std::vector<ScoredVertex> best{{query, 1.0}};
  keep_best(best, *top);
  result.best = with_zeros(best, std::min(*top, num_vertices));
  return result;
}

}  // namespace

template <class S>
std::vector<RwrResult> random_walk_restart(SpmvOperator<S>& op, std::span<const double> out_weights,
                                           std::span<const VertexId> queries, const RwrOptions& options) {
  check(options, queries, op.num_rows());
  check(options.stop);
  const Buffer<S> scale = local_reciprocals(op, out_weights);
  std::vector<RwrResult> results(queries.size());
  const std::size_t at_a_time = std::min({options.batch_size, op.most_vectors(), kMostWalks});
  for (std::size_t first = 0; first < queries.size(); first += at_a_time) {
    const std::size_t count = std::min(at_a_time, queries.size() - first);
    WalkBlock<S> block(op, scale, queries.subspan(first, count), options,
                       std::span(results).subspan(first, count));
    if (block.run()) continue;
    for (std::size_t q = first + count; q < results.size(); ++q)
      results[q] = not_begun(queries[q], op.num_rows(), options.top);
    break;
  }
  return results;
}

template std::vector<RwrResult> random_walk_restart(SpmvOperator<float>&, std::span<const double>,
                                                    std::span<const VertexId>, const RwrOptions&);
template std::vector<RwrResult> random_walk_restart(SpmvOperator<double>&, std::span<const double>,
                                                    std::span<const VertexId>, const RwrOptions&);

}  // namespace tessera
