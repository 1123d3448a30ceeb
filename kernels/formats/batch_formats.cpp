#include "kernels/formats/batch_formats.hpp"

#include <fmt/format.h>

#include "kernels/base/error.hpp"

namespace tessera {

Buffer<BatchItem> batch_items(std::span<const CsrView<double>> matrices,
                              std::span<const std::uint64_t> num_elements) {
  Buffer<BatchItem> items(matrices.size());
  BatchItem next;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const CsrView<double>& a = matrices[i];
    if (a.num_rows > kMostBatchRows || a.num_cols > kMostBatchRows)
      throw ResourceError(
          fmt::format("matrix {} of the batch is {} x {}, at most {} x {} are possible; multiply it "
                      "by itself",
                      i + 1, a.num_rows, a.num_cols, kMostBatchRows, kMostBatchRows));
    next.num_rows = static_cast<std::uint32_t>(a.num_rows);
    next.num_cols = static_cast<std::uint32_t>(a.num_cols);
    next.num_elements = checked_size(num_elements[i]);
    items[i] = next;
    next.first_row += a.num_rows;
    next.first_col += a.num_cols;
    next.first_element += num_elements[i];
  }
  return items;
}

void put_largest_first(Buffer<BatchItem>& items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const BatchItem& a, const BatchItem& b) { return a.num_elements > b.num_elements; });
}

}  // namespace tessera
