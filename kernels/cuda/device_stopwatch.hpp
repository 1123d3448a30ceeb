// Times parts of a product on the device, by events on its default stream.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/backend.hpp"

namespace tessera::cuda {

struct PartWork {
  std::string name;
  std::function<void()> work;
};
/// Runs the parts one after the other, each several times in a row, as iterations do, because a kernel begins
/// while the one before it ends; the first once more before. Gives the means; waits for the last.
std::vector<PartTime> time_on_device(std::span<const PartWork> parts);

}  // namespace tessera::cuda
