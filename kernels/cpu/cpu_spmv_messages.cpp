// The tile-messages product on the CPU: the definition of its result, pass by pass and slice by slice.
#include <algorithm>

#include "kernels/base/buffer.hpp"
#include "kernels/cpu/cpu_spmv.hpp"

namespace tessera::cpu {
namespace {

/// A row of a slice as it is summed.
template <class S>
struct Row {
  const SlicePassView<S>& pass;
  std::uint64_t window;
  const Slice& slice;
  std::uint32_t row;
  const S* in;
  std::uint64_t num_vectors;

  /// The input that element k is multiplied with, and its value.
  S input(const ElementPlace& place) const {
    const std::uint32_t offset = offset_at(pass.words, place);
    if (offset == pass.windows[window].size) return 0;
    return in[input_index(pass, window, offset) * num_vectors];
  }
  double value(const ElementPlace& place) const {
    return static_cast<double>(pass.values[2 * place.word + place.half]);
  }
  double product(std::uint32_t k) const {
    const ElementPlace place = element_place(slice, row, k);
    return value(place) * static_cast<double>(input(place));
  }
  double pair(std::uint32_t word) const {
    if (pass.values != nullptr) return product(2 * word) + product(2 * word + 1);
    const S sum = input(element_place(slice, row, 2 * word)) + input(element_place(slice, row, 2 * word + 1));
    return static_cast<double>(sum);
  }
  /// The words first, first + 1, ... of a lane, four of them or as many as there are.
  double tree(std::uint32_t first, std::uint32_t lane, std::uint32_t num_lanes) const {
    const auto word = [&](std::uint32_t k) { return pair((first + k) * num_lanes + lane); };
    const std::uint32_t left = slice.num_words - first;
    double sum = word(0);
    if (left > 1) sum += word(1);
    if (left > 2) sum += left > 3 ? word(2) + word(3) : word(2);
    return sum;
  }
  double sum() const {
    if (is_single(slice))
      return pass.values != nullptr ? product(0) : static_cast<double>(input(element_place(slice, row, 0)));
    const std::uint32_t num_lanes = is_joint(slice) ? kSliceLanes : 1;
    double lanes[kSliceLanes];  // -0.0: what is added to it stays as it is
    std::fill(std::begin(lanes), std::end(lanes), -0.0);
    for (std::uint32_t lane = 0; lane < num_lanes; ++lane)
      for (std::uint32_t k = 0; k < slice.num_words; k += kTreeWords) lanes[lane] += tree(k, lane, num_lanes);
    for (std::uint32_t distance = 1; distance < num_lanes; distance *= 2)
      for (std::uint32_t lane = 0; lane < num_lanes; lane += 2 * distance)
        lanes[lane] += lanes[lane + distance];
    return lanes[0];
  }
};

/// store(slice, row, q, sum) for every row and vector of a pass.
template <class S, class Store>
void run_pass(const SlicePassView<S>& pass, const S* in, unsigned num_vectors, const Store& store) {
#pragma omp parallel for schedule(dynamic, 1)
  for (std::uint64_t w = 0; w < pass.num_windows; ++w) {
    for (std::uint64_t i = pass.windows[w].first_slice; i < pass.windows[w + 1].first_slice; ++i)
      for (std::uint32_t row = 0; row < rows_of(pass.slices[i]); ++row)
        for (unsigned q = 0; q < num_vectors; ++q)
          store(pass.slices[i], row, q, Row<S>{pass, w, pass.slices[i], row, in + q, num_vectors}.sum());
  }
}

}  // namespace

template <class S>
void spmv(const TileMessagesView<S>& a, const S* x, double* y, unsigned num_vectors) {
  Buffer<S> messages(a.num_messages * num_vectors);
  run_pass(a.tiles, x, num_vectors, [&](const Slice& s, std::uint32_t row, unsigned q, double sum) {
    messages[(std::uint64_t{s.first_out} + row) * num_vectors + q] = static_cast<S>(sum);
  });
  Buffer<double> product(a.num_products * num_vectors);
  run_pass(a.bins, messages.data(), num_vectors,
           [&](const Slice& s, std::uint32_t row, unsigned q, double sum) {
             product[(std::uint64_t{s.first_out} + row) * num_vectors + q] = sum;
           });
#pragma omp parallel for schedule(static)
  for (std::uint64_t row = 0; row < a.num_rows; ++row)
    if (a.row_positions[row] != kNoVertex)
      std::copy_n(product.data() + std::uint64_t{a.row_positions[row]} * num_vectors, num_vectors,
                  y + row * num_vectors);
}

template void spmv(const TileMessagesView<float>&, const float*, double*, unsigned);
template void spmv(const TileMessagesView<double>&, const double*, double*, unsigned);

}  // namespace tessera::cpu
