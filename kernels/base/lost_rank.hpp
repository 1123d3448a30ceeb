// A rank that is gone or has stopped: how long the others wait for it, so that all have ended 10 seconds
// later.
#pragma once
#include "kernels/base/error.hpp"

namespace tessera {

/// Another rank does not answer, or what links the ranks has failed. Those that are left find out by
/// themselves, each at its time.
struct LostRankError : ResourceError {
  using ResourceError::ResourceError;
};

/// Without an answer, in an exchange or a sum; besides what a long exchange takes by the rate of the links.
inline constexpr double kAnswerSeconds = 5;
/// For leaving NCCL, which may hang.
inline constexpr double kAbortSeconds = 0.5;
/// After which a meeting of GPUs ends by itself, whose host does not look after it.
inline constexpr double kMeetingSeconds = kAnswerSeconds + kAbortSeconds;
/// For joining NCCL, where this rank gives up meanwhile: it takes half a second where all ranks come.
inline constexpr double kJoinToLeaveSeconds = 3;
/// For leaving MPI together, before a rank ends alone.
inline constexpr double kLeaveTogetherSeconds = 1.5;
/// For the launcher to end whoever is left: as seen with mpirun of Open MPI 4.1, which waits for 1 second
/// between its signals (odls_base_sigkill_timeout).
inline constexpr double kLauncherSeconds = 2.1;
static_assert(kJoinToLeaveSeconds < kAnswerSeconds);
static_assert(kAnswerSeconds + kAbortSeconds + kLeaveTogetherSeconds + kLauncherSeconds < 10);

}  // namespace tessera
