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
/// Runs the parts one after the other, the first once more before; waits for the last.
std::vector<PartTime> time_on_device(std::span<const PartWork> parts);

}  // namespace tessera::cuda
