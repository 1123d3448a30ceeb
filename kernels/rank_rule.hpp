// How one update of PageRank follows from the sums of the one before, dangling rule included: the formula,
// for host and device; and when a device that goes by it from step to step ends.
#pragma once
#include <cstdint>

#include "kernels/base/exact_sum.hpp"
#include "kernels/base/host_device.hpp"
#include "kernels/vector_sums.hpp"

namespace tessera {

enum class Dangling {
  uniform,          ///< their mass goes to all vertices alike
  personalization,  ///< their mass goes where the surfer jumps to
  drop,             ///< it is lost: the paper's equation as it stands; scores sum to less than 1
  rescale,          ///< it is lost, and each step f is scaled back to sum 1: p = f(p) / |f(p)|
};

/// new = link * y + teleport * jump[row] + constant; jump may be empty (then its term is left out).
struct RankUpdate {
  double link = 0;
  double teleport = 0;
  double constant = 0;
};

/// What the next update needs to know of the current scores.
struct ScoreMasses {
  double linked = 0;  ///< of vertices with out-links
  double dangling = 0;
};

/// From exact sums: with a damping near 1 the linked mass is so small beside all that the difference of their
/// doubles would have few right bits.
TESSERA_HD inline ScoreMasses masses_of(ExactSum total, const ExactSum& dangling, const ExactScale& scale) {
  total -= dangling;
  return {scale.value(total), scale.value(dangling)};
}

/// The step p' = c W^T p + (mass that jumps) * v, with the rule for dangling mass worked in.
struct RankRule {
  double damping = 0.85;  ///< c
  Dangling dangling = Dangling::uniform;
  bool jumps_anywhere = true;  ///< to all vertices alike: v is constant
  std::uint64_t num_vertices = 0;
  /// Vertices that no update sees, since links neither enter nor leave them: all have the score `constant`.
  std::uint64_t num_unconnected = 0;

  TESSERA_HD RankUpdate update_after(const ScoreMasses& masses) const {
    RankUpdate update{.link = damping};
    double jumping = 1 - damping, uniform = 0;
    switch (dangling) {
      case Dangling::uniform:
        uniform = damping * masses.dangling;
        break;
      case Dangling::personalization:
        jumping += damping * masses.dangling;
        break;
      case Dangling::drop:
        break;
      case Dangling::rescale: {
        // The sum after the step is known before it: W^T keeps all mass that is not dangling.
        const double sum = damping * masses.linked + (1 - damping);
        update.link /= sum;
        jumping /= sum;
      }
    }
    update.teleport = jumps_anywhere ? 0.0 : jumping;
    update.constant = (jumps_anywhere ? jumping + uniform : uniform) / static_cast<double>(num_vertices);
    return update;
  }

  /// Whether updates depend on the sum of all scores; else update_after() gives the same with any.
  TESSERA_HD bool needs_total() const { return dangling == Dangling::rescale; }
  /// The update after `update`, which left these sums of the rows that it saw; S: what scores are stored as.
  template <class S>
  TESSERA_HD RankUpdate update_after(const RankUpdate& update, ExactSum total, ExactSum dangling_sum,
                                     const ExactScale& scale) const {
    if (num_unconnected > 0) {  // whose share takes a device longer than all the rest
      ExactSum unconnected;
      scale.add(static_cast<double>(static_cast<S>(update.constant)), unconnected);
      unconnected *= num_unconnected;
      total += unconnected;
      dangling_sum += unconnected;
    }
    return update_after(masses_of(total, dangling_sum, scale));
  }
};

/// Steps that follow one another without the host (Backend::run_rank_steps). For one rank that has all rows.
struct RankRun {
  /// Of one run, whose beginning takes as long as some ten steps, and for whose end an interrupt waits.
  static constexpr unsigned kMostSteps = 512;

  RankRule rule;
  RankUpdate first;         ///< what the first step does
  unsigned most_steps = 1;  ///< 1 to kMostSteps
  Norm norm = Norm::l1;
  double tolerance = -1;  ///< the first step whose change is at most that is the last

  TESSERA_HD const RankUpdate& first_update() const { return first; }
  /// Whether a run is over after so many steps, the last of which changed so much.
  TESSERA_HD bool ends_after(unsigned num_steps, double change) const {
    return num_steps >= most_steps || change <= tolerance;
  }
};

}  // namespace tessera
