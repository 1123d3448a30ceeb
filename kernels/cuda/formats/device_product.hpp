// A format of kernels/formats in device memory: what its constructor has built, copied. A format whose
// kernels want something of the device has a check_device(), which may refuse with a ResourceError.
#pragma once
#include <utility>

#include "kernels/cuda/device_memory.hpp"
#include "kernels/formats/sparse_product.hpp"

namespace tessera::cuda {

template <class Format>
class DeviceProduct : public SparseProduct<typename Format::Value> {
 public:
  using S = typename Format::Value;
  template <class Input>
  explicit DeviceProduct(const Input& input) : DeviceProduct(Format(input)) {}
  explicit DeviceProduct(Format format) : format_(std::move(format)) {
    if constexpr (requires { check_device(format_); }) check_device(format_);
    Format::each_buffer(format_, [](auto& buffer) { buffer = on_device(buffer); });
    if constexpr (OrdersInput<Format>) slots_ = device_buffer<S>(format_.slot_columns.size());
  }
  FormatStats stats() const override { return stats_of(format_); }
  void multiply(const S* x, S* y) const override { multiply_ordered(DeviceProduct::ordered(x), y); }
  const S* ordered(const S* x) const override {
    if constexpr (OrdersInput<Format>) {
      order_input_on_device(format_, x, slots_.data());
      x = slots_.data();
    }
    return x;
  }
  void multiply_ordered(const S* x, S* y) const override { multiply_on_device(format_, x, y); }

 private:
  Format format_;
  mutable Buffer<S> slots_;  // for ordered()
};

}  // namespace tessera::cuda
