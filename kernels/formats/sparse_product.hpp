// Formats of the literature for any m x n matrix, side by side (docs/formats.md): what they have in common. A
// format is a struct with its storage, a constructor from CSR, and multiply_on_host(), which defines its
// result; multiply_on_device() stands beside its kernel. All are listed in format_registry.cpp.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels/base/buffer.hpp"
#include "kernels/csr_view.hpp"

namespace tessera {

struct FormatStats {
  std::uint64_t num_stored = 0;  ///< elements, padding among them
  std::uint64_t bytes = 0;       ///< of the matrix
};

/// A matrix in some format, on the host or on a device.
template <class S>
class SparseProduct {
 public:
  virtual ~SparseProduct() = default;
  virtual FormatStats stats() const = 0;
  /// y = A x. x: num_cols, y: num_rows numbers of S, where the matrix is; all of y is written. On a device
  /// this may return before it is done.
  virtual void multiply(const S* x, S* y) const = 0;
  /// For many products with one x: x in the format's own order, which lies in the product until the next
  /// call, or x itself; multiply_ordered() takes it.
  virtual const S* ordered(const S* x) const { return x; }
  virtual void multiply_ordered(const S* x, S* y) const { multiply(x, y); }
};

/// A format with an order of its own for x: beside its multiply_on_host() and multiply_on_device(), which
/// take x in that order, stand order_input_on_host() and order_input_on_device().
template <class Format>
concept OrdersInput = requires(const Format& format) {
  format.slot_columns;
};

template <class Format>
FormatStats stats_of(const Format& format) {
  FormatStats stats{.num_stored = format.num_stored()};
  Format::each_buffer(format, [&](const auto& buffer) { stats.bytes += buffer.size_bytes(); });
  return stats;
}

template <class Format>
class HostProduct : public SparseProduct<typename Format::Value> {
 public:
  using S = typename Format::Value;
  /// From one matrix, or from several (batch_formats.hpp).
  template <class Input>
  explicit HostProduct(const Input& input) : format_(input) {
    if constexpr (OrdersInput<Format>) slots_ = Buffer<S>(format_.slot_columns.size());
  }
  FormatStats stats() const override { return stats_of(format_); }
  void multiply(const S* x, S* y) const override { multiply_ordered(HostProduct::ordered(x), y); }
  const S* ordered(const S* x) const override {
    if constexpr (OrdersInput<Format>) {
      order_input_on_host(format_, x, slots_.data());
      x = slots_.data();
    }
    return x;
  }
  void multiply_ordered(const S* x, S* y) const override { multiply_on_host(format_, x, y); }

 private:
  Format format_;
  mutable Buffer<S> slots_;  // for ordered()
};

/// What kernels that count in 32 bits may go beyond the end.
inline constexpr std::uint64_t kStepsBeyond = 8192;
/// Formats number their elements with 32 bits. Throws ResourceError.
std::uint32_t checked_size(std::uint64_t num_stored);

/// Padded formats refuse, with an OptionError, a matrix whose storage would be so many times its elements
/// (but for very small ones).
inline constexpr std::uint64_t kMostPadding = 20;
void check_padding(const char* name, std::uint64_t num_stored, std::uint64_t num_nonzeros);
/// check_padding, and checked_size of what is stored.
std::uint32_t checked_padding(const char* name, std::uint64_t num_stored, std::uint64_t num_nonzeros);

/// Element k of a matrix, 1 where it has no values.
template <class S>
S element_value(const CsrView<double>& a, EdgeOffset k) {
  return a.values == nullptr ? S{1} : static_cast<S>(a.values[k]);
}

inline std::uint64_t row_length(const CsrView<double>& a, std::uint64_t row) {
  return a.row_offsets[row + 1] - a.row_offsets[row];
}

std::uint64_t longest_row(const CsrView<double>& a);

/// body(begin, end) on all threads for ranges that make up [0, count) and do not part items of one row: items
/// k - 1 and k are, where is_same_row(k). Each row's items stay in order.
template <class IsSameRow, class Body>
void for_ranges_of_rows(std::uint64_t count, const IsSameRow& is_same_row, const Body& body) {
  constexpr std::uint64_t kRange = 16384;
  const auto row_start = [&](std::uint64_t k, std::uint64_t end) {
    while (k < end && k > 0 && is_same_row(k)) ++k;
    return k;
  };
#pragma omp parallel for schedule(dynamic, 1)
  for (std::uint64_t first = 0; first < count; first += kRange) {
    const std::uint64_t end = std::min(first + kRange, count), begin = row_start(first, end);
    // A range that lies inside one row leaves it to the range in which that row begins.
    if (begin < end) body(begin, row_start(end, count));
  }
}

}  // namespace tessera
