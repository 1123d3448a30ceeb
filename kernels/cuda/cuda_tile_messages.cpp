#include "kernels/cuda/cuda_tile_messages.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/device_exchange.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/device_stopwatch.hpp"
#include "kernels/profile_range.hpp"

namespace tessera::cuda {
namespace {

/// Some windows of a pass, dealt to the multiprocessors.
template <class S>
class DeviceShares {
 public:
  DeviceShares(const PassOutline& pass, unsigned num_multiprocessors) {
    for (std::uint64_t w = pass.first_window; w < pass.end_window; ++w)
      largest_window_ = std::max(largest_window_, pass.windows[w].size);
    const BlockShares dealt =
        share_slices(pass, num_multiprocessors, threads_for<S>(largest_window_) / 32, sizeof(S));
    num_blocks_ = dealt.num_blocks();
    shares_ = on_device(std::span<const WindowShare>(dealt.shares));
    first_of_block_ = on_device(std::span<const std::uint32_t>(dealt.first_of_block));
  }
  SliceShares view() const { return {shares_.data(), first_of_block_.data(), num_blocks_, largest_window_}; }

 private:
  Buffer<WindowShare> shares_;
  Buffer<std::uint32_t> first_of_block_;
  std::uint32_t num_blocks_ = 0;
  std::uint32_t largest_window_ = 0;
};

template <class S>
SlicePass<S> pass_on_device(const SlicePass<S>& host) {
  return {on_device(host.windows), on_device(host.slices), on_device(host.words),
          on_device(host.values),  on_device(host.parts),  host.num_parts};
}

/// Windows and slices of a pass on the device, for dealing.
class HostOutline {
 public:
  template <class S>
  explicit HostOutline(const SlicePass<S>& device)
      : windows_(on_host(device.windows)),
        slices_(on_host(device.slices)),
        num_words_(device.words.size()),
        num_windows_(device.num_windows()) {}
  std::uint64_t num_windows() const { return num_windows_; }
  PassOutline of(std::uint64_t first_window, std::uint64_t end_window) const {
    return {windows_.data(), first_window, end_window, slices_.data(), slices_.size(), num_words_};
  }

 private:
  Buffer<Window> windows_;
  Buffer<Slice> slices_;
  std::uint64_t num_words_, num_windows_;
};

template <class S>
class DeviceTileMessages : public Matrix<S> {
 public:
  DeviceTileMessages(TileMessages<S> matrix, unsigned num_multiprocessors,
                     std::shared_ptr<Exchange<S>> exchange)
      : exchange_(std::dynamic_pointer_cast<DeviceExchange<S>>(exchange)), matrix_(std::move(matrix)) {
    const HostOutline tiles(matrix_.tiles), bins(matrix_.bins);
    // One launch for the tiles that each chunk of the exchange completes.
    std::uint64_t first = 0;
    for (std::size_t chunk = 0; chunk < num_chunks(); ++chunk) {
      const std::uint64_t end = exchange_ == nullptr ? tiles.num_windows() : exchange_->end_tile(chunk);
      // Beside what still arrives; the blocks of a product leave no room for others.
      const unsigned busy = chunk + 1 == num_chunks() ? 0 : exchange_->busy_multiprocessors();
      tile_shares_.emplace_back(tiles.of(first, end),
                                num_multiprocessors > busy ? num_multiprocessors - busy : 1);
      first = end;
    }
    bin_shares_.emplace(bins.of(0, bins.num_windows()), num_multiprocessors);
  }

  RowPlaces row_places() const override { return {&matrix_.row_positions, matrix_.num_products}; }

  void apply(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors) const override {
    prepare(x, y, num_vectors);
    const ProfileRange range("product");
    if (num_vectors > 1) return apply_each(x, y, num_vectors);
    send(x);
    add(y, 1, 0);
  }

  std::vector<PartTime> time_parts(const Buffer<S>& x, Buffer<double>& y) const override {
    prepare(x, y, 1);
    const auto both = [&] {
      send(x);
      add(y, 1, 0);
    };
    const PartWork work[] = {{"tiles", [&] { send(x); }}, {"bins", both}};
    std::vector<PartTime> times = time_on_device(work, kTimedInARow);
    // What the second pass adds: it begins while the first ends.
    times[1].seconds = std::max(0.0, times[1].seconds - times[0].seconds);
    return times;
  }

 private:
  std::size_t num_chunks() const { return exchange_ == nullptr ? 1 : exchange_->num_chunks(); }

  void prepare(const Buffer<S>& x, const Buffer<double>& y, unsigned num_vectors) const {
    require(x.size() >= matrix_.num_slots * num_vectors, "x is shorter than the matrix is wide");
    require(y.size() >= matrix_.num_products * num_vectors, "y is shorter than the matrix is high");
    const std::uint64_t taken = num_vectors > 1 ? matrix_.num_slots : 0;
    if (messages_.size() >= matrix_.num_messages && vector_.size() >= taken) return;
    if (exchange_ != nullptr) exchange_->finish();  // freeing memory waits for the device
    if (messages_.size() < matrix_.num_messages) messages_ = device_buffer<S>(matrix_.num_messages);
    if (vector_.size() < taken) vector_ = device_buffer<S>(taken);
  }
  void send(const Buffer<S>& x) const {
    for (std::size_t chunk = 0; chunk < num_chunks(); ++chunk) {
      if (exchange_ != nullptr) exchange_->wait_for(chunk);
      send_messages(matrix_.tiles.view(), tile_shares_[chunk].view(), x.data(), messages_.data());
    }
  }
  void add(Buffer<double>& y, unsigned num_vectors, unsigned q) const {
    add_messages(matrix_.bins.view(), bin_shares_->view(), messages_.data(), y.data(), num_vectors, q);
  }
  /// A window of several vectors would hold too few columns: they go one after the other.
  void apply_each(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors) const {
    for (std::size_t chunk = 0; exchange_ != nullptr && chunk < num_chunks(); ++chunk)
      exchange_->wait_for(chunk);
    for (unsigned q = 0; q < num_vectors; ++q) {
      take_vector(x.data(), num_vectors, q, matrix_.num_slots, vector_.data());
      for (const DeviceShares<S>& shares : tile_shares_)
        send_messages(matrix_.tiles.view(), shares.view(), vector_.data(), messages_.data());
      add(y, num_vectors, q);
    }
  }

  std::shared_ptr<DeviceExchange<S>> exchange_;
  TileMessages<S> matrix_;
  std::vector<DeviceShares<S>> tile_shares_;
  std::optional<DeviceShares<S>> bin_shares_;
  mutable Buffer<S> messages_;
  mutable Buffer<S> vector_;  // one of a block
};

}  // namespace

template <class S>
TileMessages<S> on_device(const TileMessages<S>& host) {
  TileMessages<S> device;
  device.num_rows = host.num_rows;
  device.num_slots = host.num_slots;
  device.num_messages = host.num_messages;
  device.num_products = host.num_products;
  device.row_positions = on_device(host.row_positions);
  device.stats = host.stats;
  device.tiles = pass_on_device(host.tiles);
  device.bins = pass_on_device(host.bins);
  return device;
}

template <class S>
std::unique_ptr<Matrix<S>> make_tile_messages(TileMessages<S> matrix, unsigned num_multiprocessors,
                                              std::shared_ptr<Exchange<S>> exchange) {
  return std::make_unique<DeviceTileMessages<S>>(std::move(matrix), num_multiprocessors, std::move(exchange));
}

template TileMessages<float> on_device(const TileMessages<float>&);
template TileMessages<double> on_device(const TileMessages<double>&);
template std::unique_ptr<Matrix<float>> make_tile_messages(TileMessages<float>, unsigned,
                                                           std::shared_ptr<Exchange<float>>);
template std::unique_ptr<Matrix<double>> make_tile_messages(TileMessages<double>, unsigned,
                                                            std::shared_ptr<Exchange<double>>);

}  // namespace tessera::cuda
