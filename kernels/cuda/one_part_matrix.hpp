// What matrices on a device have in common whose product is timed as one part.
#pragma once
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/cuda/device_stopwatch.hpp"

namespace tessera::cuda {

template <class S>
class OnePartMatrix : public Matrix<S> {
 public:
  std::vector<PartTime> time_parts(const Buffer<S>& x, Buffer<double>& y) const override {
    const PartWork product[] = {{"product", [&] { this->apply(x, y, 1); }}};
    return time_on_device(product, kTimedInARow);
  }
};

}  // namespace tessera::cuda
