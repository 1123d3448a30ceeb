#include "engine/overlapped_product.hpp"

#include <fmt/format.h>

#include <chrono>

#include "kernels/base/error.hpp"
#include "kernels/formats/format_registry.hpp"

namespace tessera {
namespace {

const FormatEntry& entry_of(const std::string& name) {
  for (const FormatEntry& entry : all_formats())
    if (name == entry.name) return entry;
  throw OptionError(fmt::format("unknown format \"{}\"", name));
}

}  // namespace

template <class S>
OverlappedProduct<S>::OverlappedProduct(const CsrView<double>& matrix, const std::string& first,
                                        const std::string& better, Backend<S>& backend)
    : on_device_(!backend.memory_is_host()), current_(make_format<S>(entry_of(first), matrix, on_device_)) {
  if (better.empty() || better == first) return;
  entry_of(better);
  thread_ = std::thread([this, matrix, better] { prepare(matrix, better); });
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
  prepare_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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

template class OverlappedProduct<float>;
template class OverlappedProduct<double>;

}  // namespace tessera
