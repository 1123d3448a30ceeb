#include "algorithms/hits.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "algorithms/hits_pair_changes.hpp"
#include "algorithms/hits_side.hpp"
#include "algorithms/hits_uniqueness.hpp"
#include "algorithms/pair_runs.hpp"
#include "algorithms/vertex_values.hpp"

namespace tessera {
namespace {

/// Spreading stops after so many steps at least; more when the iteration itself took more.
constexpr int kSpreadSteps = 50;

/// A change of so many roundings may grow by them.
constexpr double kRoundings = 16;

StepChange larger(const StepChange& a, const StepChange& b) {
  return {.residual = std::max(a.residual, b.residual),
          .l1 = std::max(a.l1, b.l1),
          .magnitude = std::max(a.magnitude, b.magnitude)};
}

/// spread: see has_unique_pair.
bool is_unique_by(const HitsResult& result, const std::function<SpreadStep()>& spread) {
  return has_unique_pair(result.report.residual_l1, result.convergence_rate,
                         std::max(kSpreadSteps, result.report.iterations), spread);
}

bool is_above_zero(double score) { return score > 0; }

/// The scores of all vertices, or of the best alone where so few are asked for.
void keep_scores(MatchedPair pair, std::optional<std::uint64_t> top, HitsResult& result) {
  result.has_authorities = std::ranges::any_of(pair.authority, is_above_zero);
  result.has_hubs = std::ranges::any_of(pair.hub, is_above_zero);
  if (!top) {
    result.authority = std::move(pair.authority);
    result.hub = std::move(pair.hub);
    return;
  }
  const std::uint64_t num_vertices = pair.authority.size();
  result.best = best_of(std::move(pair.authority), std::min(*top, num_vertices));
  for (const VertexId vertex : result.best.vertices) result.hubs_of_best.push_back(pair.hub[vertex]);
}

/// The scores become `side`'s product of `inputs`, the largest 1 (all 0 stay).
template <class S>
void put_scaled_product(HitsSide<S>& side, const Buffer<S>& inputs) {
  Backend<S>& backend = side.op->backend();
  side.op->replicate(inputs, nullptr, side.x);
  side.op->apply(side.x, side.y);
  const double largest = all_max(side.op->comm(), backend.norm_sums(side.y, false, ExactScale(0)).largest);
  (void)backend
      .rank_update({.link = largest > 0 ? 1 / largest : 0}, side.y, side.op->row_places(), Buffer<S>(),
                   Buffer<S>(), hits_scale(), false, side.score, {})
      .take();
}

/// The alternating form: two operators, two vectors.
template <class S>
class AlternatingHits {
 public:
  AlternatingHits(SpmvOperator<S>& to_authority, SpmvOperator<S>& to_hub, const HitsOptions& options)
      : options_(options),
        authority_(to_authority, to_authority.local_constant(0, to_authority.num_local_rows()),
                   options.normalize),
        hub_(to_hub, start_of(options, to_hub), options.normalize) {
    if (!authority_.columns.are_known()) hub_.columns = {};
    if (!hub_.columns.are_known()) authority_.columns = {};
    authority_.follow(hub_);
    hub_.follow(authority_);
    if (authority_.may_run() && hub_.may_run() && authority_.op->runs_in_pair_with(*hub_.op))
      runs_.emplace(to_authority, to_hub, PairState<S>{authority_.columns, authority_.score},
                    PairState<S>{hub_.columns, hub_.score}, PairNorms{authority_.least_norm, hub_.least_norm},
                    options.stop);
    to_hub.backend().put_inputs(hub_.score, nullptr, 1, to_authority.input_target(authority_.x));
  }

  static bool is_known(const StepChange&) { return true; }
  StepChange step() {
    // Products are looked at until norms have been known for a step.
    if (runs_ && authority_.norm_is_known)
      if (const auto sums = runs_->next({authority_.norm, hub_.norm})) return take(*sums);
    if (is_running_) put_inputs();
    if (runs_) runs_->pass();
    const StepChange change = advance(authority_, hub_, options_, 1.0, authority_.score);
    return larger(change, advance(hub_, authority_, options_, 1.0, hub_.score));
  }

  void finish(HitsResult& result) {
    if (is_running_) runs_->settle();
    authority_.op->wait_for_inputs();
    if (options_.top && options_.normalize != ScoreNorm::max)  // where scores that differ may become equal
      keep_best(*options_.top, result);
    else
      keep_scores(pair(), options_.top, result);
    result.convergence_rate = convergence_rate(result.report.residual_history, 1);
    if (!result.report.interrupted) result.unique = is_unique(result);
  }

 private:
  MatchedPair pair() const {
    MatchedPair found{authority_.op->to_original(authority_.score), hub_.op->to_original(hub_.score)};
    if (options_.normalize == ScoreNorm::max) {  // was multiplied by a rounded reciprocal
      normalize(ScoreNorm::max, found.authority);
      normalize(ScoreNorm::max, found.hub);
    }
    return found;
  }
  void keep_best(std::uint64_t count, HitsResult& result) const {
    result.best = authority_.op->best(authority_.score, count);
    result.hubs_of_best = hub_.op->values_of(hub_.score, result.best.vertices);
    result.has_authorities = has_scores(result.best.scores, authority_);
    result.has_hubs = has_scores(result.hubs_of_best, hub_);
  }
  /// some: of the side's scores, the same on all ranks.
  static bool has_scores(std::span<const double> some, const HitsSide<S>& side) {
    return std::ranges::any_of(some, is_above_zero) || side.op->best(side.score, 1).scores.front() > 0;
  }

  static Buffer<S> start_of(const HitsOptions& options, const SpmvOperator<S>& to_hub) {
    const std::uint64_t n = to_hub.num_rows();
    if (options.start_hubs.empty())
      return to_hub.local_constant(static_cast<S>(1.0 / static_cast<double>(n)), to_hub.num_local_rows());
    return to_hub.to_local(normalized(options.start_hubs, n, "start of the hubs"));
  }

  /// A step of a run.
  StepChange take(const std::pair<VectorSums, VectorSums>& sums) {
    is_running_ = true;
    hub_.norm = next_norm(authority_, sums.first);
    authority_.norm = next_norm(hub_, sums.second);
    return larger(change_of(options_.stop.norm, sums.first, hits_scale()),
                  change_of(options_.stop.norm, sums.second, hits_scale()));
  }
  /// Of the product that the host makes behind a run.
  void put_inputs() {
    is_running_ = authority_.is_started = false;
    hub_.op->backend().put_inputs(hub_.score, nullptr, 1, authority_.op->input_target(authority_.x));
  }

  bool is_unique(const HitsResult& result) {
    Backend<S>& backend = hub_.op->backend();
    Buffer<S> hubs = mark_of_largest(*hub_.op, hub_.score, hub_.score.size());
    Buffer<S> authorities = backend.template allocate<S>(authority_.score.size());
    backend.clear(authorities);
    backend.put_inputs(hubs, nullptr, 1, authority_.op->input_target(authority_.x));
    return is_unique_by(result, [&] {
      spread_marks(authority_, hub_, {}, authorities);
      return spread_marks(hub_, authority_, hub_.score, hubs);
    });
  }

  const HitsOptions& options_;
  HitsSide<S> authority_, hub_;
  std::optional<PairRuns<S>> runs_;
  bool is_running_ = false;  // the last step was of a run
};

/// The block form: z = (a, h) of length 2n. z_k = M z_{k-1} splits into two interleaved sequences (a_k comes
/// from h_{k-1}, h_k from a_{k-1}), so a step is compared with the one before the last, and a matching pair
/// is a of the last but one with h of the last. How z is shared between a and h alternates, too: a step may
/// have next to nothing of one of them, even both steps of two, whose change is then hardly seen. So the
/// change that counts is the larger one of two steps, and near the end a and h are looked at one by one.
template <class S>
class BlockHits {
 public:
  BlockHits(SpmvOperator<S>& block, const HitsOptions& options)
      : options_(options),
        changes_(options.stop),
        latest_(block, block.to_local(start_of(options, block.num_rows() / 2)), options.normalize) {
    if (!options.start_hubs.empty()) latest_.score = block.to_local(followed_by_authorities());
    latest_.follow(latest_);
    before_ = block.local_constant(0, block.num_local_rows());
    block.backend().put_inputs(latest_.score, nullptr, 1, block.input_target(latest_.x));
  }

  StepChange step() {
    // Size 2 together, as a and h have size 1 each in the alternating form.
    const double size = options_.normalize == ScoreNorm::max ? 1.0 : 2.0;
    const StepChange change = advance(latest_, latest_, options_, size, before_);
    before_.swap(latest_.score);
    return larger(change, std::exchange(change_before_, change));
  }

  bool is_known(StepChange& change) {
    return changes_.is_known(change, [&] { return pair(); });
  }

  void finish(HitsResult& result) {
    MatchedPair found = pair();
    result.convergence_rate = convergence_rate(changes_.joint_residuals(), 2);
    if (!result.report.interrupted) result.unique = is_unique(result, found.hub);
    keep_scores(std::move(found), options_.top, result);
  }

 private:
  /// In original order: the authorities (0) or hubs (1) of a step.
  std::vector<double> half_of(const Buffer<S>& score, std::ptrdiff_t half) const {
    const std::vector<double> all = latest_.op->to_original(score);
    const auto n = static_cast<std::ptrdiff_t>(all.size() / 2);
    return {all.begin() + half * n, all.begin() + (half + 1) * n};
  }

  MatchedPair pair() {
    latest_.op->wait_for_inputs();
    MatchedPair found{half_of(before_, 0), half_of(latest_.score, 1)};
    normalize(options_.normalize, found.authority);
    normalize(options_.normalize, found.hub);
    return found;
  }

  /// Hubs that were given, with the authorities that come of them: with others one sequence may be that of
  /// another part of the graph, and grow until the other, which is measured and scaled with it, is lost.
  std::vector<double> followed_by_authorities() {
    const std::uint64_t n = latest_.op->num_rows() / 2;
    std::vector<double> start = start_of(options_, n);
    std::fill_n(start.begin(), n, 0.0);
    put_scaled_product(latest_, latest_.op->to_local(start));
    std::vector<double> authorities = latest_.op->to_original(latest_.score);
    authorities.resize(n);
    normalize(ScoreNorm::sum, authorities);
    std::copy(authorities.begin(), authorities.end(), start.begin());
    return start;
  }
  static std::vector<double> start_of(const HitsOptions& options, std::uint64_t n) {
    std::vector<double> start(n, 1.0 / static_cast<double>(n));
    const std::vector<double> hubs = normalized(options.start_hubs, n, "start of the hubs");
    start.insert(start.end(), hubs.begin(), hubs.end());
    return start;
  }

  bool is_unique(const HitsResult& result, const std::vector<double>& hub_scores) {
    std::vector<double> masses(2 * hub_scores.size(), 0.0);
    std::copy(hub_scores.rbegin(), hub_scores.rend(), masses.rbegin());
    const Buffer<S> hubs = latest_.op->to_local(masses);
    Buffer<S> marks = mark_of_largest(*latest_.op, hubs, latest_.score.size());
    latest_.op->backend().put_inputs(marks, nullptr, 1, latest_.op->input_target(latest_.x));
    return is_unique_by(result, [&] {
      spread_marks(latest_, latest_, hubs, marks);
      return spread_marks(latest_, latest_, hubs, marks);
    });
  }

  const HitsOptions& options_;
  PairChanges changes_;
  HitsSide<S> latest_;
  Buffer<S> before_;
  StepChange change_before_{.magnitude = 0};
};

/// A change that grows is that of a pair which the scores only come to: they have begun near another one.
bool shrinks(const StepChange& change, double change_before, Precision precision) {
  return change.l1 <= std::max(change_before, kRoundings * unit_roundoff(precision) * change.magnitude);
}

template <class Form>
HitsResult iterate(Form&& form, const HitsOptions& options, Precision precision, Communicator& comm) {
  HitsResult result;
  StopTest stop(options.stop, precision);
  // The first change is that from no authorities; so from a given start the second one has none before it.
  double change_before = options.start_hubs.empty() ? std::numeric_limits<double>::infinity() : 0;
  for (bool done = false; !done;) {
    StepChange change = form.step();
    const bool is_shrinking = shrinks(change, change_before, precision);
    if (!result.report.residual_history.empty()) change_before = change.l1;
    const bool is_known = options.stop.fixed_iterations > 0 || form.is_known(change);
    done = stop.done(change, result.report, {.may_converge = is_known && is_shrinking});
    if (!all_go_on(options.observer, {result.report.iterations, result.report.residual}, comm)) {
      result.report.interrupted = !done;
      done = true;
    }
  }
  form.finish(result);
  return result;
}

}  // namespace

template <class S>
HitsResult hits(SpmvOperator<S>& to_authority, SpmvOperator<S>& to_hub, const HitsOptions& options) {
  check(options.stop);
  if (to_authority.num_rows() == 0) return {};
  return iterate(AlternatingHits<S>(to_authority, to_hub, options), options, precision_of<S>(),
                 to_authority.comm());
}

template <class S>
HitsResult hits_block(SpmvOperator<S>& block, const HitsOptions& options) {
  check(options.stop);
  if (block.num_rows() == 0) return {};
  return iterate(BlockHits<S>(block, options), options, precision_of<S>(), block.comm());
}

template HitsResult hits(SpmvOperator<float>&, SpmvOperator<float>&, const HitsOptions&);
template HitsResult hits(SpmvOperator<double>&, SpmvOperator<double>&, const HitsOptions&);
template HitsResult hits_block(SpmvOperator<float>&, const HitsOptions&);
template HitsResult hits_block(SpmvOperator<double>&, const HitsOptions&);

}  // namespace tessera
