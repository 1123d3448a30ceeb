#include "kernels/cuda/cuda_tile_messages.hpp"

#include <algorithm>

#include "kernels/base/error.hpp"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/device_memory.hpp"

namespace tessera::cuda {
namespace {

/// A pass on the device, and how it is dealt to the multiprocessors.
template <class S>
class DevicePass {
 public:
  DevicePass(const SlicePass<S>& host, unsigned num_multiprocessors) {
    for (std::uint64_t w = 0; w < host.num_windows(); ++w)
      largest_window_ = std::max(largest_window_, host.windows[w].size);
    const BlockShares shares =
        share_slices(host.windows.data(), host.num_windows(), host.slices.data(), num_multiprocessors,
                     threads_for<S>(largest_window_) / 32, sizeof(S));
    num_blocks_ = shares.num_blocks();
    shares_ = on_device(std::span<const WindowShare>(shares.shares));
    first_of_block_ = on_device(std::span<const std::uint32_t>(shares.first_of_block));
    pass_.windows = on_device(host.windows);
    pass_.slices = on_device(host.slices);
    pass_.words = on_device(host.words);
    pass_.values = on_device(host.values);
  }
  SlicePassView<S> view() const { return pass_.view(); }
  SliceShares shares() const {
    return {shares_.data(), first_of_block_.data(), num_blocks_, largest_window_};
  }

 private:
  SlicePass<S> pass_;
  Buffer<WindowShare> shares_;
  Buffer<std::uint32_t> first_of_block_;
  std::uint32_t num_blocks_ = 0;
  std::uint32_t largest_window_ = 0;
};

template <class S>
class DeviceTileMessages : public Matrix<S> {
 public:
  DeviceTileMessages(const TileMessages<S>& host, unsigned num_multiprocessors)
      : num_rows_(host.num_rows),
        num_slots_(host.num_slots),
        num_messages_(host.num_messages),
        tiles_(host.tiles, num_multiprocessors),
        bins_(host.bins, num_multiprocessors) {}

  void apply(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors) const override {
    require(x.size() >= num_slots_ * num_vectors, "x is shorter than the matrix is wide");
    require(y.size() >= num_rows_ * num_vectors, "y is shorter than the matrix is high");
    if (messages_.size() < num_messages_ * num_vectors) {
      messages_ = {};
      messages_ = device_buffer<S>(num_messages_ * num_vectors);
    }
    const TileMessagesView<S> view{num_rows_, num_slots_, num_messages_, tiles_.view(), bins_.view()};
    spmv(view, tiles_.shares(), bins_.shares(), x.data(), messages_.data(), y.data(), num_vectors);
  }

 private:
  std::uint64_t num_rows_, num_slots_, num_messages_;
  DevicePass<S> tiles_, bins_;
  mutable Buffer<S> messages_;  // grown to the largest number of vectors used
};

}  // namespace

template <class S>
std::unique_ptr<Matrix<S>> make_tile_messages(TileMessages<S> host, unsigned num_multiprocessors) {
  return std::make_unique<DeviceTileMessages<S>>(host, num_multiprocessors);
}

template std::unique_ptr<Matrix<float>> make_tile_messages(TileMessages<float>, unsigned);
template std::unique_ptr<Matrix<double>> make_tile_messages(TileMessages<double>, unsigned);

}  // namespace tessera::cuda
