#include "kernels/formats/batch_registry.hpp"

#include <string>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/formats/batch_formats.hpp"
#include "kernels/formats/format_registry.hpp"
#ifdef TESSERA_HAVE_CUDA
#include "kernels/cuda/formats/device_product.hpp"
#endif
#ifdef TESSERA_HAVE_CUSPARSE
#include "kernels/cuda/formats/cusparse_batch.hpp"
#endif

namespace tessera {
namespace {

template <class Format>
std::unique_ptr<SparseProduct<typename Format::Value>> make(Matrices matrices, bool on_device) {
  if (!on_device) return std::make_unique<HostProduct<Format>>(matrices);
#ifdef TESSERA_HAVE_CUDA
  return std::make_unique<cuda::DeviceProduct<Format>>(matrices);
#else
  throw ResourceError("this build has no CUDA");
#endif
}

/// A product a matrix, one after the other: what a batch is there to beat.
template <class S>
class LoopProduct : public SparseProduct<S> {
 public:
  LoopProduct(const std::string& format, Matrices matrices, bool on_device) {
    for (const FormatEntry& entry : all_formats()) {
      if (format != entry.name) continue;
      for (const CsrView<double>& a : matrices) {
        products_.push_back(make_format<S>(entry, a, on_device));
        num_rows_.push_back(a.num_rows);
        num_cols_.push_back(a.num_cols);
      }
      return;
    }
    throw InternalError("this build does not have the format of a loop");
  }
  FormatStats stats() const override {
    FormatStats sum;
    for (const auto& product : products_) {
      const FormatStats one = product->stats();
      sum.num_stored += one.num_stored;
      sum.bytes += one.bytes;
    }
    return sum;
  }
  void multiply(const S* x, S* y) const override {
    for (std::size_t i = 0; i < products_.size(); ++i) {
      products_[i]->multiply(x, y);
      x += num_cols_[i];
      y += num_rows_[i];
    }
  }

 private:
  std::vector<std::unique_ptr<SparseProduct<S>>> products_;
  std::vector<std::uint64_t> num_rows_, num_cols_;
};

template <class S>
std::unique_ptr<SparseProduct<S>> loop_of_csr(Matrices matrices, bool on_device) {
  return std::make_unique<LoopProduct<S>>("csr-adaptive", matrices, on_device);
}

template <template <class> class Format>
constexpr BatchEntry entry(const char* name, const char* summary) {
  return {name, summary, false, make<Format<float>>, make<Format<double>>};
}

#ifdef TESSERA_HAVE_CUSPARSE
template <class S>
std::unique_ptr<SparseProduct<S>> loop_of_vendors(Matrices matrices, bool on_device) {
  return std::make_unique<LoopProduct<S>>("cusparse-csr2", matrices, on_device);
}
template <class S>
std::unique_ptr<SparseProduct<S>> vendors_batch(Matrices matrices, bool on_device) {
  if (!on_device) throw ResourceError("cuSPARSE computes on a GPU only; use --backend cuda");
  return cuda::make_cusparse_batch<S>(matrices);
}
#endif

constexpr BatchEntry kForms[] = {
    entry<BatchCsrScalar>("csr-scalar", "a block a matrix, a thread a row"),
    entry<BatchCsrVector>("csr-vector", "a warp a row"),
    entry<BatchCsrAdaptive>("csr-adaptive", "as many threads a row as the mean row of the matrix needs"),
    entry<BatchCsrBalanced>("csr-balanced", "as many non-zeros a warp, atomics at row ends"),
    entry<BatchCoo>("coo", "a thread a non-zero"),
    entry<BatchEll>("ell", "column-major, rows of a matrix as long as its longest"),
    {"loop", "csr-adaptive, matrix after matrix", false, loop_of_csr<float>, loop_of_csr<double>},
#ifdef TESSERA_HAVE_CUSPARSE
    {"cusparse-loop", "cuSPARSE CSR_ALG2, matrix after matrix", true, loop_of_vendors<float>,
     loop_of_vendors<double>},
    {"cusparse-spmm", "cuSPARSE SpMM CSR_ALG1, matrices of one shape with rows of the same lengths", true,
     vendors_batch<float>, vendors_batch<double>},
#endif
};

}  // namespace

std::span<const BatchEntry> all_batch_forms() { return kForms; }

}  // namespace tessera
