// Chebyshev's semi-iteration for walks, and for PageRank of undirected graphs (Golub and Varga, 1961): a step
// of r = c W r + (1 - c) e is gone further, p_{k+1} = p_{k-1} + w_k (c W p_k + (1 - c) e - p_{k-1}), with
// weights for eigenvalues of c W between -c and c. W of an undirected graph has real ones, as D^-1/2 A D^-1/2
// has. The change of a step is the residual of what it began with, whatever the weights, so tolerances mean
// what they do without.
#pragma once

namespace tessera {

/// Of one vector, a walk's or PageRank's. Weights depend on its residuals alone, so on no number of ranks,
/// threads or queries.
class StepAcceleration {
 public:
  /// Accelerated steps go on while residuals are at most so many times what plain ones would have made of the
  /// first. In L1 they may grow before they shrink: 10 times is the most that was seen on undirected graphs
  /// (from the root of a binary tree of 16,383 vertices, c = 0.999).
  static constexpr double kMostGrowth = 32;
  /// No later change is above this, whatever the matrix: the first is 2 at most; in a step residuals become
  /// 2 |r_k| + |r_{k-1}| at most, and three steps go by before a weight knows of one.
  static constexpr double kMostChange = 17 * 2 * kMostGrowth;

  /// contraction: c. unit_roundoff: of the numbers that scores are stored in.
  StepAcceleration(double contraction, double unit_roundoff);
  /// Whether the next step is part of an accelerated sequence: then where it begins must be kept for the one
  /// after it.
  bool is_on() const { return state_ == State::on; }
  /// Whether any step was: then scores near 0 may be below.
  bool has_begun() const { return state_ != State::waiting; }
  /// Of the next step, to be asked once for each: 1 is the plain step. It does not wait for the change of the
  /// step before, which is not known while a device works ahead.
  double weight();
  /// The L1 change of a step, once its weight and that of the next one have been asked for.
  void take(double residual);
  /// Steps, eight or more, in which the largest accelerated residual shrinks by e. A single one tells little:
  /// that of a slow eigenvector goes up and down, and through 0.
  static int steps_of_a_swing(double contraction);

 private:
  enum class State { waiting, on, ended };

  bool is_slow(double residual) const;

  double contraction_, slow_ratio_, smallest_residual_;
  int most_small_steps_;
  State state_ = State::waiting;
  int num_steps_ = 0, num_weights_ = 0, num_small_steps_ = 0;
  double last_residual_ = 0, most_residual_ = 0, weight_ = 1;
};

}  // namespace tessera
