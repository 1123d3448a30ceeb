// Times parts of a product on the device, by events on its default stream.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/backend.hpp"

namespace tessera::cuda {

/// Products of iterations are timed so many in a row.
inline constexpr int kTimedInARow = 5;

struct PartWork {
  std::string name;
  std::function<void()> work;
};
/// Runs the first part once more before; then queues the parts one after the other, and where they start
/// fast only then, or after 20 ms, lets the device begin, so that a busy host is not timed; waits for the
/// last. Gives means of so many runs in a row of each: in iterations a kernel begins while the one before it
/// ends.
std::vector<PartTime> time_on_device(std::span<const PartWork> parts, int in_a_row);

}  // namespace tessera::cuda
