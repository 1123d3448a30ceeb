// The list of products of many small matrices: one line each in batch_registry.cpp.
#pragma once
#include <memory>
#include <span>

#include "kernels/formats/sparse_product.hpp"

namespace tessera {

using Matrices = std::span<const CsrView<double>>;

struct BatchEntry {
  const char* name;
  const char* summary;
  bool needs_device;  ///< the vendor's
  std::unique_ptr<SparseProduct<float>> (*make_f32)(Matrices, bool on_device);
  std::unique_ptr<SparseProduct<double>> (*make_f64)(Matrices, bool on_device);
};

/// The batched kernels, then loops over single products, with which they are compared.
std::span<const BatchEntry> all_batch_forms();

/// y = A x for all matrices at once: x and y are theirs one after the other, where the batch is. Throws
/// as make_format().
template <class S>
std::unique_ptr<SparseProduct<S>> make_batch(const BatchEntry& entry, Matrices matrices, bool on_device) {
  if constexpr (sizeof(S) == 4)
    return entry.make_f32(matrices, on_device);
  else
    return entry.make_f64(matrices, on_device);
}

}  // namespace tessera
