#include "engine/matrix_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/column_counts.hpp"
#include "engine/tile_composite_builder.hpp"
#include "engine/tile_messages_builder.hpp"
#include "kernels/base/error.hpp"
#include "kernels/formats/format_registry.hpp"

namespace tessera {
namespace {

template <class S>
std::vector<S> rounded(std::span<const double> values) {
  std::vector<S> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), [](double v) { return static_cast<S>(v); });
  return result;
}

/// A format of the registry: y as it is, x in the order that the format asks for.
template <class S>
class FormatProduct : public MatrixProduct<S> {
 public:
  FormatProduct(std::unique_ptr<SparseProduct<S>> product, std::uint64_t num_rows, std::uint64_t num_cols,
                Backend<S>& backend)
      : backend_(backend),
        product_(std::move(product)),
        x_(backend.template allocate<S>(num_cols)),
        y_(backend.template allocate<S>(num_rows)) {}
  FormatStats stats() const override { return product_->stats(); }
  std::uint64_t vector_bytes() const override { return x_.size_bytes() + y_.size_bytes(); }
  void set_x(std::span<const double> x) override {
    backend_.upload(rounded<S>(x).data(), x_.data(), x_.size_bytes());
    ordered_x_ = product_->ordered(x_.data());
  }
  void run() override { product_->multiply_ordered(ordered_x_, y_.data()); }
  std::vector<double> y() const override {
    std::vector<S> host(y_.size());
    backend_.download(y_.data(), host.data(), y_.size_bytes());
    return {host.begin(), host.end()};
  }

 private:
  Backend<S>& backend_;
  std::unique_ptr<SparseProduct<S>> product_;
  Buffer<S> x_, y_;
  const S* ordered_x_ = nullptr;  // x_, or memory of product_
};

/// The engine's tiled forms: x by tiles, columns longest first, rows as they are, y in double.
template <class S>
class TiledProduct : public MatrixProduct<S> {
 public:
  TiledProduct(const CsrView<double>& matrix, bool messages, Backend<S>& backend)
      : backend_(backend), num_rows_(matrix.num_rows) {
    const TilingLimits limits = backend.tiling_limits();
    const auto lengths = column_counts({matrix.col_indices, matrix.num_nonzeros()}, matrix.num_cols);
    columns_ =
        messages ? order_columns_by_length(lengths, limits.tile_columns, ~std::uint32_t{0}, Remainder::narrow)
                 : order_columns_by_length(lengths, limits.tile_columns, limits.max_dense_tiles);
    columns_.order = Buffer<VertexId>();  // not needed
    std::vector<VertexId> rows(num_rows_);
    std::iota(rows.begin(), rows.end(), VertexId{0});
    if (messages) {
      auto form =
          build_tile_messages<S>(matrix, rows, columns_, limits.bins_for(matrix.num_nonzeros(), false));
      take(form.stats, backend.make_matrix(std::move(form), nullptr));
    } else {
      auto form = build_tile_composite<S>(matrix, rows, columns_, limits, default_perf_table());
      take(form.stats, backend.make_matrix(std::move(form)));
    }
  }
  FormatStats stats() const override { return stats_; }
  std::uint64_t vector_bytes() const override { return x_.size_bytes() + y_.size_bytes(); }
  void set_x(std::span<const double> x) override {
    std::vector<S> slots(x_.size(), S{0});
    for (std::uint64_t c = 0; c < x.size(); ++c)
      if (columns_.slot_of_column[c] != kNoVertex) slots[columns_.slot_of_column[c]] = static_cast<S>(x[c]);
    backend_.upload(slots.data(), x_.data(), x_.size_bytes());
  }
  void run() override { matrix_->apply(x_, y_, 1); }
  std::vector<double> y() const override {
    std::vector<double> product(y_.size()), rows(num_rows_, 0.0);
    backend_.download(y_.data(), product.data(), y_.size_bytes());
    const Buffer<VertexId>* positions = matrix_->row_places().positions;
    if (positions == nullptr) return product;
    std::vector<VertexId> where(num_rows_);
    backend_.download(positions->data(), where.data(), positions->size_bytes());
    for (std::uint64_t row = 0; row < num_rows_; ++row)
      if (where[row] != kNoVertex) rows[row] = product[where[row]];
    return rows;
  }

 private:
  void take(const PackingStats& packing, std::unique_ptr<Matrix<S>> matrix) {
    stats_ = {.num_stored = packing.num_stored, .bytes = packing.bytes};
    matrix_ = std::move(matrix);
    x_ = backend_.template allocate<S>(columns_.num_slots);
    const RowPlaces places = matrix_->row_places();
    y_ = backend_.template allocate<double>(places.positions == nullptr ? num_rows_ : places.num_products);
    backend_.clear(y_);
  }

  Backend<S>& backend_;
  std::uint64_t num_rows_;
  ColumnOrder columns_;
  FormatStats stats_;
  std::unique_ptr<Matrix<S>> matrix_;
  Buffer<S> x_;
  Buffer<double> y_;
};

constexpr const char* kTileComposite = "tile-composite";
constexpr const char* kTileMessages = "tile-messages";

}  // namespace

std::vector<ProductForm> product_forms(bool on_device) {
  std::vector<ProductForm> forms = {{kTileComposite, "tiles of columns, rows packed into rectangles"},
                                    {kTileMessages, "tiles of columns, sums by messages in two passes"}};
  for (const FormatEntry& entry : all_formats())
    if (on_device || !entry.needs_device) forms.push_back({entry.name, entry.summary});
  return forms;
}

template <class S>
std::unique_ptr<MatrixProduct<S>> with_vectors(std::unique_ptr<SparseProduct<S>> product,
                                               std::uint64_t num_rows, std::uint64_t num_cols,
                                               Backend<S>& backend) {
  return std::make_unique<FormatProduct<S>>(std::move(product), num_rows, num_cols, backend);
}

template <class S>
std::unique_ptr<MatrixProduct<S>> make_product(const std::string& name, const CsrView<double>& matrix,
                                               Backend<S>& backend) {
  if (name == kTileComposite || name == kTileMessages)
    return std::make_unique<TiledProduct<S>>(matrix, name == kTileMessages, backend);
  if (const FormatEntry* entry = find_format(name))
    return with_vectors<S>(make_format<S>(*entry, matrix, !backend.memory_is_host()), matrix.num_rows,
                           matrix.num_cols, backend);
  throw OptionError(fmt::format("unknown kernel \"{}\"", name));
}

template std::unique_ptr<MatrixProduct<float>> with_vectors(std::unique_ptr<SparseProduct<float>>,
                                                            std::uint64_t, std::uint64_t, Backend<float>&);
template std::unique_ptr<MatrixProduct<double>> with_vectors(std::unique_ptr<SparseProduct<double>>,
                                                             std::uint64_t, std::uint64_t, Backend<double>&);
template std::unique_ptr<MatrixProduct<float>> make_product(const std::string&, const CsrView<double>&,
                                                            Backend<float>&);
template std::unique_ptr<MatrixProduct<double>> make_product(const std::string&, const CsrView<double>&,
                                                             Backend<double>&);

}  // namespace tessera
