// The tile-messages product on the CPU: the definition of its result, pass by pass and slice by slice.
#include <vector>

#include "kernels/base/buffer.hpp"
#include "kernels/cpu/cpu_spmv.hpp"

namespace tessera::cpu {
namespace {

/// Vector q of a row's sum: two accumulators, or two a lane.
template <class S>
double row_sum(const SlicePassView<S>& pass, const Window& window, const Slice& s, std::uint32_t row,
               const S* in, std::uint64_t num_vectors) {
  const std::uint32_t num_lanes = is_joint(s) ? kSliceLanes : 1;
  double lanes[kSliceLanes] = {};
  for (std::uint32_t lane = 0; lane < num_lanes; ++lane) {
    double sums[2] = {};
    for (std::uint32_t word = 0; word < s.num_words; ++word)
      for (std::uint32_t half = 0; half < 2; ++half) {
        const EdgeOffset at = slice_element(s, row, 2 * (word * num_lanes + lane) + half);
        if (pass.offsets[at] == window.size) continue;
        const auto x = static_cast<double>(in[pass.offsets[at] * num_vectors]);
        sums[half] += pass.values == nullptr ? x : static_cast<double>(pass.values[at]) * x;
      }
    lanes[lane] = sums[0] + sums[1];
  }
  for (std::uint32_t distance = 1; distance < num_lanes; distance *= 2)
    for (std::uint32_t lane = 0; lane < num_lanes; lane += 2 * distance)
      lanes[lane] += lanes[lane + distance];
  return lanes[0];
}

/// store(out, q, sum) for every row and vector of a pass.
template <class S, class Store>
void run_pass(const SlicePassView<S>& pass, const S* in, unsigned num_vectors, const Store& store) {
#pragma omp parallel for schedule(dynamic, 1)
  for (std::uint64_t w = 0; w < pass.num_windows; ++w) {
    const Window& window = pass.windows[w];
    for (std::uint64_t i = window.first_slice; i < pass.windows[w + 1].first_slice; ++i) {
      const Slice& s = pass.slices[i];
      for (std::uint32_t row = 0; row < rows_of(s); ++row)
        for (unsigned q = 0; q < num_vectors; ++q)
          store(std::uint64_t{s.first_out} + row, q,
                row_sum(pass, window, s, row, in + window.first_in * num_vectors + q, num_vectors));
    }
  }
}

}  // namespace

template <class S>
void spmv(const TileMessagesView<S>& a, const S* x, double* y, unsigned num_vectors) {
  Buffer<S> messages(a.num_messages * num_vectors);
  run_pass(a.tiles, x, num_vectors, [&](std::uint64_t out, unsigned q, double sum) {
    messages[out * num_vectors + q] = static_cast<S>(sum);
  });
  std::fill_n(y, a.num_rows * num_vectors, 0.0);
  run_pass(a.bins, messages.data(), num_vectors, [&](std::uint64_t out, unsigned q, double sum) {
    y[std::uint64_t{a.row_ids[out]} * num_vectors + q] = sum;
  });
}

template void spmv(const TileMessagesView<float>&, const float*, double*, unsigned);
template void spmv(const TileMessagesView<double>&, const double*, double*, unsigned);

}  // namespace tessera::cpu
