#include "kernels/formats/format_registry.hpp"

#include <algorithm>

#include "kernels/base/error.hpp"

#include "kernels/formats/coo.hpp"
#include "kernels/formats/csr_ell.hpp"
#include "kernels/formats/csr_formats.hpp"
#include "kernels/formats/dia.hpp"
#include "kernels/formats/ell.hpp"
#include "kernels/formats/hyb.hpp"
#include "kernels/formats/packet.hpp"
#include "kernels/formats/sell.hpp"
#include "kernels/formats/tile_coo.hpp"
#ifdef TESSERA_HAVE_CUDA
#ifdef TESSERA_HAVE_CUSPARSE
#include "kernels/cuda/formats/cusparse_product.hpp"
#endif
#include "kernels/cuda/formats/device_product.hpp"
#endif

namespace tessera {
namespace {

template <class Format>
std::unique_ptr<SparseProduct<typename Format::Value>> make(const CsrView<double>& a, bool on_device) {
  if (!on_device) return std::make_unique<HostProduct<Format>>(a);
#ifdef TESSERA_HAVE_CUDA
  return std::make_unique<cuda::DeviceProduct<Format>>(a);
#else
  throw ResourceError("this build has no CUDA");
#endif
}

template <template <class> class Format>
constexpr FormatEntry entry(const char* name, const char* summary) {
  return {name, summary, false, make<Format<float>>, make<Format<double>>};
}

#ifdef TESSERA_HAVE_CUSPARSE
template <cuda::CusparseKind kind, class S>
std::unique_ptr<SparseProduct<S>> make_vendors(const CsrView<double>& a, bool on_device) {
  if (!on_device) throw ResourceError("cuSPARSE computes on a GPU only; use --backend cuda");
  return cuda::make_cusparse_product<S>(kind, a);
}

template <cuda::CusparseKind kind>
constexpr FormatEntry vendors(const char* name, const char* summary) {
  return {name, summary, true, make_vendors<kind, float>, make_vendors<kind, double>};
}
#endif

constexpr FormatEntry kFormats[] = {
    entry<Coo>("coo", "a thread a non-zero, sums over warps"),
    entry<TileCoo>("tile-coo", "tiles of columns, each as coo, the rest too"),
    entry<CsrScalar>("csr-scalar", "a thread a row"),
    entry<CsrVector>("csr-vector", "a warp a row"),
    entry<CsrHalfWarp>("csr-half-warp", "16 threads a row, rows padded to 16"),
    entry<CsrAdaptive>("csr-adaptive", "as many threads a row as the mean row needs"),
    entry<CsrBalanced>("csr-balanced", "as many non-zeros a warp, atomics at row ends"),
    entry<Ell>("ell", "column-major, rows as long as the longest"),
    entry<EllpackR>("ellpack-r", "the same, each row to its own length"),
    entry<Sell>("sell", "slices of 32 rows, sorted by length in windows"),
    entry<Dia>("dia", "diagonals and their offsets"),
    entry<Hyb>("hyb", "an ELL part, longer rows' rest as coo"),
    entry<CsrEll>("csr-ell", "short rows as ELL, several threads each, long ones as CSR, several warps each"),
    entry<Packet>("packet", "parts of the graph, x and y of each in shared memory; the rest as coo"),
#ifdef TESSERA_HAVE_CUSPARSE
    vendors<cuda::CusparseKind::csr1>("cusparse-csr1", "cuSPARSE, CSR_ALG1"),
    vendors<cuda::CusparseKind::csr2>("cusparse-csr2", "cuSPARSE, CSR_ALG2"),
    vendors<cuda::CusparseKind::coo>("cusparse-coo", "cuSPARSE, COO_ALG1"),
    vendors<cuda::CusparseKind::sell>("cusparse-sell", "cuSPARSE, SELL_ALG1"),
#endif
};

}  // namespace

std::span<const FormatEntry> all_formats() { return kFormats; }

const FormatEntry* find_format(std::string_view name) {
  const auto formats = all_formats();
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const FormatEntry& entry) { return entry.name == name; });
  return found == formats.end() ? nullptr : &*found;
}

}  // namespace tessera
