#include "engine/overlapped_product.hpp"

#include <fmt/format.h>

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/base/median.hpp"
#include "kernels/base/seconds_since.hpp"
#include "kernels/formats/format_registry.hpp"

namespace tessera {
namespace {

const FormatEntry& entry_of(const std::string& name) {
  if (const FormatEntry* entry = find_format(name)) return *entry;
  throw OptionError(fmt::format("unknown format \"{}\"", name));
}

}  // namespace

template <class S>
OverlappedProduct<S>::OverlappedProduct(const CsrView<double>& matrix, const std::string& first,
                                        const std::string& better, Backend<S>& backend)
    : backend_(backend),
      on_device_(!backend.memory_is_host()),
      current_(make_format<S>(entry_of(first), matrix, on_device_)) {
  if (better.empty() || better == first) return;
  entry_of(better);
  // A new thread would take as many OpenMP threads as the machine has.
  thread_ = std::thread([this, matrix, better, threads = omp_get_max_threads()] {
    omp_set_num_threads(threads);
    prepare(matrix, better);
  });
}

template <class S>
OverlappedProduct<S>::~OverlappedProduct() {
  finish_preparing();
}

template <class S>
void OverlappedProduct<S>::prepare(const CsrView<double>& matrix, const std::string& name) {
  const auto start = std::chrono::steady_clock::now();
  try {
    better_ = make_format<S>(entry_of(name), matrix, on_device_);
  } catch (const std::exception& error) {
    refusal_ = error.what();
  }
  prepare_seconds_ = seconds_since(start);
  is_ready_ = true;
}

template <class S>
void OverlappedProduct<S>::finish_preparing() {
  if (thread_.joinable()) thread_.join();
}

template <class S>
void OverlappedProduct<S>::multiply(const Buffer<S>& x, Buffer<S>& y) {
  if (switched_after_ < 0 && is_ready_ && better_ != nullptr) {
    // The old one stays until the end: a device may still work with it.
    current_.swap(better_);
    switched_after_ = num_products_;
  }
  current_->multiply(x.data(), y.data());
  ++num_products_;
}

template <class S>
typename OverlappedProduct<S>::ProductTimes OverlappedProduct<S>::time_products(const Buffer<S>& x,
                                                                                Buffer<S>& y,
                                                                                int repeat) const {
  const auto time = [&](const SparseProduct<S>& product) {
    product.multiply(x.data(), y.data());
    return median(backend_.time_runs([&] { product.multiply(x.data(), y.data()); }, repeat));
  };
  // After the change the first format is the one put aside.
  if (switched_after_ < 0) return {.first = time(*current_)};
  return {.first = time(*better_), .better = time(*current_)};
}

template class OverlappedProduct<float>;
template class OverlappedProduct<double>;

}  // namespace tessera
