// The one place where a run decides between float and double.
#pragma once
#include "kernels/base/types.hpp"

namespace tessera::cli {

/// Calls `work` with a value of the type.
template <class F>
auto with_precision(Precision precision, F&& work) {
  return precision == Precision::f32 ? work(float{}) : work(double{});
}

}  // namespace tessera::cli
