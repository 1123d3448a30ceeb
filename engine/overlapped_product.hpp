// A product that begins in a format that costs next to nothing to build and goes on in another one, which a
// thread of the host prepares meanwhile (Matam and Kothapalli 2011).
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "kernels/backend.hpp"
#include "kernels/formats/sparse_product.hpp"

namespace tessera {

template <class S>
class OverlappedProduct {
 public:
  /// Names of formats of the registry. `better` is prepared from now on; empty: there is no other. `matrix`
  /// must stay as long as this. Throws OptionError for unknown names and where the matrix does not suit the
  /// first, ResourceError when that would be too large; where it is the better one, the first stays.
  OverlappedProduct(const CsrView<double>& matrix, const std::string& first, const std::string& better,
                    Backend<S>& backend);
  /// Waits for the thread.
  ~OverlappedProduct();
  OverlappedProduct(const OverlappedProduct&) = delete;
  OverlappedProduct& operator=(const OverlappedProduct&) = delete;

  /// y = A x, where the backend has them.
  void multiply(const Buffer<S>& x, Buffer<S>& y);
  /// Waits until the better format is there; later products are in it.
  void finish_preparing();
  /// Median seconds of a product in the first format and in the one that took its place; the latter 0 where
  /// none did. Call it when nothing is prepared any more.
  struct ProductTimes {
    double first = 0, better = 0;
  };
  ProductTimes time_products(const Buffer<S>& x, Buffer<S>& y, int repeat) const;

  std::int64_t num_products() const { return num_products_; }
  /// Products before the first one in the better format; -1 while there was none.
  std::int64_t switched_after() const { return switched_after_; }
  /// What preparing took, 0 before it has ended.
  double prepare_seconds() const { return is_ready_ ? prepare_seconds_ : 0; }
  /// Why the better format was not taken; empty when it was or will be. After finish_preparing().
  const std::string& refusal() const { return refusal_; }

 private:
  void prepare(const CsrView<double>& matrix, const std::string& name);

  Backend<S>& backend_;
  const bool on_device_;
  std::unique_ptr<SparseProduct<S>> current_, better_;
  std::int64_t num_products_ = 0, switched_after_ = -1;
  double prepare_seconds_ = 0;
  std::string refusal_;
  std::atomic<bool> is_ready_ = false;
  std::thread thread_;
};

}  // namespace tessera
