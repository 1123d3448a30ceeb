#include "kernels/cuda/cuda_tile_messages.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/bin_rows.hpp"
#include "kernels/cuda/cache_use.hpp"
#include "kernels/cuda/cuda_end_update.hpp"
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
  DeviceShares(const PassOutline& pass, unsigned num_multiprocessors, CacheUse cache_use)
      : DeviceShares(pass, cache_use) {
    take(share_slices(pass, num_multiprocessors, num_warps(), sizeof(S)));
  }
  /// Of whole windows; each of their rows, which begin at first_rows, costs an update as much as moving
  /// kRowBytes: about twice what is moved.
  DeviceShares(const PassOutline& pass, unsigned num_multiprocessors, CacheUse cache_use,
               const std::uint32_t* first_rows)
      : DeviceShares(pass, cache_use) {
    constexpr std::uint32_t kRowBytes = 10 * sizeof(S);
    take(share_whole_windows(pass, num_multiprocessors, num_warps(), sizeof(S), first_rows, kRowBytes));
  }
  SliceShares view() const {
    return {shares_.data(), first_of_block_.data(), num_blocks_, largest_window_, cache_use_};
  }

 private:
  DeviceShares(const PassOutline& pass, CacheUse cache_use) : cache_use_(cache_use) {
    for (std::uint64_t w = pass.first_window; w < pass.end_window; ++w)
      largest_window_ = std::max(largest_window_, pass.windows[w].size);
  }
  unsigned num_warps() const { return threads_for<S>(largest_window_) / 32; }
  void take(const BlockShares& dealt) {
    num_blocks_ = dealt.num_blocks();
    shares_ = on_device(std::span<const WindowShare>(dealt.shares));
    first_of_block_ = on_device(std::span<const std::uint32_t>(dealt.first_of_block));
  }
  Buffer<WindowShare> shares_;
  Buffer<std::uint32_t> first_of_block_;
  std::uint32_t num_blocks_ = 0;
  std::uint32_t largest_window_ = 0;
  CacheUse cache_use_ = CacheUse::as_usual;
};

template <class S>
SlicePass<S> pass_on_device(const SlicePass<S>& host) {
  return {on_device(host.windows), on_device(host.slices), on_device(host.words),
          on_device(host.values),  on_device(host.parts),  host.num_parts};
}

/// Not looked at with values.
template <class S>
CacheUse cache_use_of(const TileMessages<S>& matrix) {
  if (!matrix.tiles.values.empty()) return CacheUse::as_usual;
  return cache_use(matrix.tiles.words.size_bytes() + matrix.bins.words.size_bytes(),
                   matrix.num_messages * sizeof(S));
}

/// Windows and slices of a pass on the device, for dealing.
class HostOutline {
 public:
  template <class S>
  HostOutline(const SlicePass<S>& device, const SliceCosts& costs)
      : windows_(on_host(device.windows)),
        slices_(on_host(device.slices)),
        num_words_(device.words.size()),
        num_windows_(device.num_windows()),
        costs_(costs) {}
  std::uint64_t num_windows() const { return num_windows_; }
  std::span<const Window> windows() const { return windows_.span(); }
  std::span<const Slice> slices() const { return slices_.span(); }
  PassOutline of(std::uint64_t first_window, std::uint64_t end_window) const {
    return {windows_.data(), first_window, end_window, slices_.data(), slices_.size(), num_words_, costs_};
  }

 private:
  Buffer<Window> windows_;
  Buffer<Slice> slices_;
  std::uint64_t num_words_, num_windows_;
  SliceCosts costs_;
};

template <class S>
class DeviceTileMessages : public Matrix<S>, public EndsWithUpdates<S> {
 public:
  DeviceTileMessages(TileMessages<S> matrix, unsigned num_multiprocessors,
                     std::shared_ptr<Exchange<S>> exchange)
      : exchange_(std::dynamic_pointer_cast<DeviceExchange<S>>(exchange)),
        matrix_(std::move(matrix)),
        cache_use_(cache_use_of(matrix_)),
        num_multiprocessors_(num_multiprocessors) {
    if (exchange_ == nullptr) deal_tiles();  // else once it is known how inputs arrive
    const HostOutline bins(matrix_.bins, kBinCosts);
    bin_shares_.emplace(bins.of(0, bins.num_windows()), num_multiprocessors, cache_use_);
  }

  RowPlaces row_places() const override { return {&matrix_.row_positions, matrix_.num_products}; }

  void apply(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors) const override {
    prepare(x, num_vectors);
    const ProfileRange range("product");
    if (num_vectors > 1) return apply_each(x, y, num_vectors);
    send(x);
    add(y, 1, 0);
  }

  /// apply_each() moves every vector out of the block and its products into one.
  unsigned most_vectors() const override { return 1; }
  bool prepare_to_end_with_updates() const override {
    if (can_end_.has_value()) return *can_end_;
    can_end_ = false;
    constexpr std::uint64_t kMostRows = std::uint64_t{1} << 31;  // numbers of rows go past the end by a grid
    if (matrix_.num_products == 0 || matrix_.num_rows > kMostRows) return false;
    const HostOutline bins(matrix_.bins, kBinCosts);
    BinRows rows = find_bin_rows(matrix_, bins.windows(), bins.slices());
    // A bin is done by one block. Rows without messages may lie together; then updates by themselves pay.
    constexpr std::uint64_t kFewRows = 65536, kBlocksShare = 4;
    if (rows.largest > std::max(kFewRows, kBlocksShare * matrix_.num_rows / num_multiprocessors_))
      return false;
    ending_shares_.emplace(bins.of(0, bins.num_windows()), num_multiprocessors_, cache_use_,
                           on_host(rows.first_rows).data());
    bin_rows_ = std::move(rows);
    can_end_ = true;
    return true;
  }
  void begin_for_update(const Buffer<S>& x) const override {
    prepare(x, 1);
    const ProfileRange range("product");
    send(x);
  }
  void end_with_update(const EndingUpdate& update, const RankVectors<S>& vectors, const ExactScale& bound,
                       bool squares, const SumsOutbox& box) const override {
    require(can_end_ == true && messages_.size() >= matrix_.num_messages, "a product was begun");
    require(vectors.num_rows <= matrix_.num_rows &&
                (update.restart_row == kNoVertex || update.restart_row < matrix_.num_rows),
            "an update of rows of this matrix");
    const ProfileRange range("update");
    const EndingBins<S> bins{matrix_.bins.view(), ending_shares_->view(), bin_rows_.first_messages.data(),
                             bin_rows_.first_rows.data(), matrix_.row_positions.data()};
    cuda::end_with_update(bins, messages_.data(), update, vectors, bound, squares, box);
  }

  std::vector<PartTime> time_parts(const Buffer<S>& x, Buffer<double>& y) const override {
    prepare(x, 1);
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

  /// One launch for the tiles that each chunk of the exchange completes.
  void deal_tiles() const {
    const HostOutline tiles(matrix_.tiles,
                            tile_costs(sizeof(S), !matrix_.tiles.values.empty(), matrix_.tiles.words.size()));
    tile_shares_.clear();
    std::uint64_t first = 0;
    for (std::size_t chunk = 0; chunk < num_chunks(); ++chunk) {
      const std::uint64_t end = exchange_ == nullptr ? tiles.num_windows() : exchange_->end_tile(chunk);
      // Beside what still arrives; the blocks of a product leave no room for others.
      const unsigned busy = chunk + 1 == num_chunks() ? 0 : exchange_->busy_multiprocessors();
      tile_shares_.emplace_back(tiles.of(first, end),
                                num_multiprocessors_ > busy ? num_multiprocessors_ - busy : 1, cache_use_);
      first = end;
    }
  }

  void prepare(const Buffer<S>& x, unsigned num_vectors) const {
    require(x.size() >= matrix_.num_slots * num_vectors, "x is shorter than the matrix is wide");
    const std::uint64_t taken = num_vectors > 1 ? matrix_.num_slots : 0;
    const bool are_dealt = tile_shares_.size() == num_chunks();
    if (messages_.size() >= matrix_.num_messages && vector_.size() >= taken && are_dealt) return;
    if (exchange_ != nullptr) exchange_->finish();  // freeing memory waits for the device, as dealing does
    if (!are_dealt) deal_tiles();
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
    require(y.size() >= matrix_.num_products * num_vectors, "y is shorter than the matrix is high");
    add_messages(matrix_.bins.view(), bin_shares_->view(), messages_.data(), y.data(), num_vectors, q);
  }
  /// For callers of apply() who have a block all the same. A window of several vectors would hold too few
  /// columns: they go one after the other.
  void apply_each(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors) const {
    for (std::size_t chunk = 0; exchange_ != nullptr && chunk < num_chunks(); ++chunk)
      exchange_->wait_for(chunk);
    for (unsigned q = 0; q < num_vectors; ++q) {
      take_vector(x.data(), num_vectors, q, matrix_.num_slots, vector_.data());
      for (const DeviceShares<S>& own : tile_shares_) {
        SliceShares shares = own.view();
        shares.cache_use = CacheUse::as_usual;  // as their readers have it
        send_messages(matrix_.tiles.view(), shares, vector_.data(), messages_.data());
      }
      add(y, num_vectors, q);
    }
  }

  std::shared_ptr<DeviceExchange<S>> exchange_;
  TileMessages<S> matrix_;
  CacheUse cache_use_ = CacheUse::as_usual;
  unsigned num_multiprocessors_;
  mutable std::vector<DeviceShares<S>> tile_shares_;  // dealt before the first product
  std::optional<DeviceShares<S>> bin_shares_;
  mutable std::optional<bool> can_end_;  // in updates; once asked for
  mutable BinRows bin_rows_;
  mutable std::optional<DeviceShares<S>> ending_shares_;
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
