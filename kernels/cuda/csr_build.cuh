// kernels/cuda/csr_build.hpp for any memory; the host is where it is tested without a device.
#pragma once
#include <utility>

#include "kernels/csr_build_input.hpp"
#include "kernels/cuda/resident_matrix.cuh"
#include "kernels/tile_composite.hpp"

namespace tessera::cuda {

template <class Memory, class S>
struct CsrBuild {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  /// num_more: elements of 0 behind the last.
  CsrBuild(const CsrBuildInput& input, std::uint64_t num_more) : in_(input), num_more_(num_more) {}

  CsrMatrix<S> run() {
    HostTransfer<Memory> transfer;
    const std::uint64_t num_bytes =
        ResidentMatrix<Memory, S>::num_bytes(in_.csr, in_.directions, in_.rows.size());
    if (in_.directions != Directions::same && num_bytes > Memory::free_bytes() / 2)
      throw NoRoomError("the GPU has no room to turn the edges round");
    ResidentMatrix<Memory, S> matrix(in_.csr, transfer);
    matrix.direct(in_.directions);
    ResidentRows<Memory> rows(in_.rows, matrix.offsets, transfer);
    CsrMatrix<S> result;
    result.num_rows = in_.rows.size();
    result.num_slots = in_.num_slots;
    result.col_indices = slots_of(matrix, rows, transfer);
    if (!matrix.values.empty()) result.values = values_of(matrix, rows);
    result.row_offsets = Memory::as_buffer(std::move(rows.starts));
    result.stats = {.num_nonzeros = rows.num_elements,
                    .num_stored = rows.num_elements,
                    .num_row_pieces = result.num_rows,
                    .bytes = result.row_offsets.size_bytes() + result.col_indices.size_bytes() +
                             result.values.size_bytes()};
    return result;
  }

  // Parents of device lambdas must be public.
  Buffer<VertexId> slots_of(const ResidentMatrix<Memory, S>& matrix, const ResidentRows<Memory>& rows,
                            HostTransfer<Memory>& transfer) {
    Vector<VertexId> slots(matrix.num_columns);
    transfer.send(in_.slot_of_column, slots.size(), slots.data());
    const VertexId *slot = slots.data(), *column = matrix.cols.data();
    return gathered<VertexId>(
        rows, [=] __host__ __device__(std::uint64_t at) -> VertexId { return slot[column[at]]; });
  }
  Buffer<S> values_of(const ResidentMatrix<Memory, S>& matrix, const ResidentRows<Memory>& rows) {
    const S* value = matrix.values.data();
    return gathered<S>(rows, [=] __host__ __device__(std::uint64_t at) -> S { return value[at]; });
  }

  /// Row after row, of every element what `of_element` has of the matrix's.
  template <class T, class OfElement>
  Buffer<T> gathered(const ResidentRows<Memory>& rows, OfElement of_element) {
    Vector<T> result(rows.num_elements + (rows.num_elements > 0 ? num_more_ : 0));
    Memory::clear(result.data() + rows.num_elements, (result.size() - rows.num_elements) * sizeof(T));
    const std::uint64_t *start = rows.starts.data(), *first = rows.firsts.data();
    T* to = result.data();
    Memory::each_in_rows(
        rows.starts, rows.num_elements,
        [=] __host__ __device__(std::uint64_t row, std::uint64_t e) -> T {
          return of_element(first[row] + (e - start[row]));
        },
        [=] __host__ __device__(std::uint64_t e, T value) { to[e] = value; });
    Buffer<T> buffer = Memory::as_buffer(std::move(result));
    buffer.truncate(rows.num_elements);
    return buffer;
  }

  const CsrBuildInput& in_;
  const std::uint64_t num_more_;
};

}  // namespace tessera::cuda
