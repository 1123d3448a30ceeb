// The list of formats: one line each in format_registry.cpp (docs/adding-a-format.md).
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "kernels/formats/sparse_product.hpp"

namespace tessera {

struct FormatEntry {
  const char* name;
  const char* summary;
  bool needs_device;  ///< the vendor's
  std::unique_ptr<SparseProduct<float>> (*make_f32)(const CsrView<double>&, bool on_device);
  std::unique_ptr<SparseProduct<double>> (*make_f64)(const CsrView<double>&, bool on_device);
};

/// The vendor's come last, in builds that know of them.
std::span<const FormatEntry> all_formats();

/// The format of that name; null when there is none.
const FormatEntry* find_format(std::string_view name);

/// A matrix in the format of `entry`, in the device's memory or on the host. Columns ascend in every row.
/// Throws OptionError for a matrix that does not suit the format, with the figures; ResourceError when it
/// would be too large, and where there is no device.
template <class S>
std::unique_ptr<SparseProduct<S>> make_format(const FormatEntry& entry, const CsrView<double>& a,
                                              bool on_device) {
  if constexpr (sizeof(S) == 4)
    return entry.make_f32(a, on_device);
  else
    return entry.make_f64(a, on_device);
}

}  // namespace tessera
