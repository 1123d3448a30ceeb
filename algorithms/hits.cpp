#include "algorithms/hits.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/hits_norm.hpp"
#include "algorithms/hits_uniqueness.hpp"
#include "algorithms/vertex_values.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Spreading stops after so many steps at least; more when the iteration itself took more.
constexpr int kSpreadSteps = 50;

StepChange larger(const StepChange& a, const StepChange& b) {
  return {.residual = std::max(a.residual, b.residual),
          .l1 = std::max(a.l1, b.l1),
          .magnitude = std::max(a.magnitude, b.magnitude)};
}

/// Marks (1 or 0) of positive entries.
void to_marks(std::vector<double>& values) {
  for (double& value : values) value = value > 0 ? 1 : 0;
}

/// Rows of `op` that have a marked input, as 1 and 0 in original order.
template <class S>
std::vector<double> marked_rows(SpmvOperator<S>& op, const Buffer<S>& marks, Buffer<S>& x, Buffer<double>& y,
                                Buffer<S>& rows) {
  op.replicate(marks, nullptr, x);
  op.apply(x, y);
  const double largest = all_max(op.comm(), op.backend().max_abs(y));
  op.backend().scale_update(largest > 0 ? 1 / largest : 0, y, op.row_places(), hits_scale(), false, rows);
  std::vector<double> all = op.to_original(rows);
  to_marks(all);
  return all;
}

/// The alternating form: two operators, two vectors.
template <class S>
class AlternatingHits {
 public:
  AlternatingHits(SpmvOperator<S>& to_authority, SpmvOperator<S>& to_hub, const HitsOptions& options)
      : to_authority_(to_authority),
        to_hub_(to_hub),
        options_(options),
        hub_x_(to_authority.make_x()),
        authority_x_(to_hub.make_x()) {
    const std::uint64_t n = to_authority.num_rows();
    hub_ = to_hub.to_local(normalized(options.start_hubs, n, "start of the hubs"));
    authority_ = to_authority.to_local(std::vector<double>(n, 0.0));
    authority_y_ = to_authority.make_y();
    hub_y_ = to_hub.make_y();
  }

  StepChange step() {
    to_authority_.replicate(hub_, nullptr, hub_x_);
    to_authority_.apply(hub_x_, authority_y_);
    const StepChange authority = update_scores(to_authority_, authority_y_, options_, 1.0, authority_);
    to_hub_.replicate(authority_, nullptr, authority_x_);
    to_hub_.apply(authority_x_, hub_y_);
    return larger(authority, update_scores(to_hub_, hub_y_, options_, 1.0, hub_));
  }

  void finish(HitsResult& result) {
    result.authority = to_authority_.to_original(authority_);
    result.hub = to_hub_.to_original(hub_);
    result.convergence_rate = convergence_rate(result.report.residual_history, 1);
    result.unique = is_unique(result);
  }

 private:
  bool is_unique(const HitsResult& result) {
    const auto spread = [&](std::span<const double> marks) {
      const std::vector<double> authorities =
          marked_rows(to_authority_, to_hub_.to_local(marks), hub_x_, authority_y_, authority_);
      return marked_rows(to_hub_, to_authority_.to_local(authorities), authority_x_, hub_y_, hub_);
    };
    const int max_steps = std::max(kSpreadSteps, result.report.iterations);
    return has_unique_pair(result.hub, result.report.residual_l1, max_steps, spread);
  }

  SpmvOperator<S>&to_authority_, &to_hub_;
  const HitsOptions& options_;
  Buffer<S> hub_, authority_, hub_x_, authority_x_;
  Buffer<double> authority_y_, hub_y_;
};

/// The block form: z = (a, h) of length 2n. z_k = M z_{k-1} splits into two interleaved sequences (a_k comes
/// from h_{k-1}, h_k from a_{k-1}), so a step is compared with the one before the last, and a matching pair
/// is a of the last but one with h of the last.
template <class S>
class BlockHits {
 public:
  BlockHits(SpmvOperator<S>& block, const HitsOptions& options)
      : block_(block), options_(options), x_(block.make_x()), y_(block.make_y()) {
    const std::uint64_t n = block.num_rows() / 2;
    const std::vector<double> hubs = normalized(options.start_hubs, n, "start of the hubs");
    std::vector<double> start(2 * n, 1.0 / static_cast<double>(n));
    std::copy(hubs.begin(), hubs.end(), start.begin() + static_cast<std::ptrdiff_t>(n));
    latest_ = block.to_local(start);
    before_ = block.to_local(std::vector<double>(2 * n, 0.0));
  }

  StepChange step() {
    block_.replicate(latest_, nullptr, x_);
    block_.apply(x_, y_);
    // Size 2 together, as a and h have size 1 each in the alternating form.
    const double size = options_.normalize == ScoreNorm::max ? 1.0 : 2.0;
    const StepChange change = update_scores(block_, y_, options_, size, before_);
    before_.swap(latest_);
    return change;
  }

  void finish(HitsResult& result) {
    const auto n = static_cast<std::ptrdiff_t>(block_.num_rows() / 2);
    const std::vector<double> first = block_.to_original(before_), second = block_.to_original(latest_);
    result.authority.assign(first.begin(), first.begin() + n);
    result.hub.assign(second.begin() + n, second.end());
    normalize(options_.normalize, result.authority);
    normalize(options_.normalize, result.hub);
    result.convergence_rate = convergence_rate(result.report.residual_history, 2);
    result.unique = is_unique(result);
  }

 private:
  bool is_unique(const HitsResult& result) {
    const auto n = static_cast<std::size_t>(block_.num_rows() / 2);
    const auto spread = [&](std::span<const double> marks) {
      std::vector<double> all(2 * n, 0.0);
      std::copy(marks.begin(), marks.end(), all.begin() + static_cast<std::ptrdiff_t>(n));
      all = marked_rows(block_, block_.to_local(all), x_, y_, before_);
      all = marked_rows(block_, block_.to_local(all), x_, y_, before_);
      return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(n), all.end());
    };
    const int max_steps = std::max(kSpreadSteps, result.report.iterations);
    return has_unique_pair(result.hub, result.report.residual_l1, max_steps, spread);
  }

  SpmvOperator<S>& block_;
  const HitsOptions& options_;
  Buffer<S> x_, latest_, before_;
  Buffer<double> y_;
};

template <class Form>
HitsResult iterate(Form&& form, const HitsOptions& options, Precision precision, Communicator& comm) {
  HitsResult result;
  StopTest stop(options.stop, precision);
  for (bool done = false; !done;) {
    done = stop.done(form.step(), result.report);
    if (!all_go_on(options.observer, {result.report.iterations, result.report.residual, 1}, comm)) {
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
  if (to_authority.num_rows() == 0) return {};
  return iterate(AlternatingHits<S>(to_authority, to_hub, options), options, precision_of<S>(),
                 to_authority.comm());
}

template <class S>
HitsResult hits_block(SpmvOperator<S>& block, const HitsOptions& options) {
  if (block.num_rows() == 0) return {};
  return iterate(BlockHits<S>(block, options), options, precision_of<S>(), block.comm());
}

template HitsResult hits(SpmvOperator<float>&, SpmvOperator<float>&, const HitsOptions&);
template HitsResult hits(SpmvOperator<double>&, SpmvOperator<double>&, const HitsOptions&);
template HitsResult hits_block(SpmvOperator<float>&, const HitsOptions&);
template HitsResult hits_block(SpmvOperator<double>&, const HitsOptions&);

}  // namespace tessera
