// A matrix of the host that is sent as it lies there, and then cut in any order of rows: where a Memory has
// room for all of its elements. The host gathers nothing, and a device that has the elements can turn them
// round, or make both directions of them.
#pragma once
#include <thrust/reduce.h>

#include "kernels/cuda/host_transfer.cuh"
#include "kernels/cuda/message_cutter.cuh"
#include "kernels/cuda/running_sums.cuh"
#include "kernels/cuda/sorted_elements.cuh"

namespace tessera::cuda {

/// What an element of a pattern takes at most while both of its directions are sorted: they, their sorted
/// copies, the scratch of a sort (of more than 2^26 vertices; half of that otherwise).
inline constexpr std::uint64_t kBytesOfBoth = 2 * (2 * sizeof(VertexId) + 20);

/// An element and its copy while elements are sorted.
template <class S>
constexpr std::uint64_t sorted_bytes_of_element(bool weighted) {
  return 2 * (sizeof(VertexId) + (weighted ? sizeof(RowValue<S>) : sizeof(VertexId)));
}

template <class Memory, class S>
struct ResidentMatrix {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  /// Of `Memory`, about, with what making such directions of it takes, and num_rows rows of a result.
  static std::uint64_t num_bytes(const CsrView<double>& csr, Directions directions, std::uint64_t num_rows) {
    constexpr std::uint64_t kVertexBytes = 3 * sizeof(std::uint64_t) + 2 * sizeof(VertexId);
    const bool weighted = csr.values != nullptr;
    const std::uint64_t an_element = directions == Directions::both ? kBytesOfBoth
                                     : directions == Directions::turned
                                         ? sorted_bytes_of_element<S>(weighted) + sizeof(VertexId)
                                         : sizeof(VertexId) + (weighted ? sizeof(S) : 0);
    return checked_mul(csr.num_nonzeros(), an_element) +
           checked_mul(num_rows + csr.num_cols + csr.num_rows, kVertexBytes);
  }

  ResidentMatrix(const CsrView<double>& csr, HostTransfer<Memory>& transfer)
      : num_columns(csr.num_cols), offsets(csr.num_rows + 1), cols(csr.num_nonzeros()) {
    send_offsets(csr, transfer);
    const EdgeOffset first = csr.num_rows == 0 ? 0 : csr.row_offsets[0];
    transfer.send(csr.col_indices + first, cols.size(), cols.data());
    if (csr.values == nullptr) return;
    values = Vector<S>(cols.size());
    transfer.send(csr.values + first, cols.size(), values.data());
  }

  // Parents of device lambdas must be public.
  void send_offsets(const CsrView<double>& csr, HostTransfer<Memory>& transfer) {
    if (csr.num_rows == 0) return Memory::clear(offsets.data(), sizeof(std::uint64_t));
    transfer.send(csr.row_offsets, offsets.size(), offsets.data());
    const EdgeOffset first = csr.row_offsets[0];
    std::uint64_t* offset = offsets.data();
    if (first > 0)
      Memory::each(offsets.size(), [=] __host__ __device__(std::uint64_t row) { offset[row] -= first; });
  }

  /// The matrix has these of its elements from now on.
  void direct(Directions directions) {
    if (directions == Directions::turned) turn();
    if (directions == Directions::both) make_both();
  }

  /// Both directions of every element of a square pattern, each once.
  void make_both() {
    const std::uint64_t count = cols.size();
    require(values.empty() && offsets.size() == num_columns + 1, "both directions are a square pattern's");
    if (count >= kNoVertex / 2) throw NoRoomError("both directions have more than 2^32 elements");
    Vector<VertexId> rows_of_both(2 * count), cols_of_both(2 * count);
    VertexId *row = rows_of_both.data(), *col = cols_of_both.data();
    const VertexId* from = cols.data();
    Memory::each_in_rows(
        offsets, count,
        [=] __host__ __device__(std::uint64_t r, std::uint64_t) { return static_cast<VertexId>(r); },
        [=] __host__ __device__(std::uint64_t e, VertexId r) {
          row[e] = col[count + e] = r;
          col[e] = row[count + e] = from[e];
        });
    cols = {};
    SortedElements<Memory> sorted =
        sorted_elements<Memory>(num_columns, 2 * count, rows_of_both.data(), cols_of_both.data());
    offsets = std::move(sorted.row_offsets);
    cols = std::move(sorted.col_indices);
  }

  /// Row r becomes column r. Elements of a row are in the order of the rows that they come from.
  void turn() {
    if (values.empty())
      turn_elements<VertexId>();
    else
      turn_elements<RowValue<S>>();
  }

  template <class P>
  void turn_elements() {
    const std::uint64_t count = cols.size(), num_rows = num_columns;
    num_columns = offsets.size() - 1;
    Vector<P> elements(count);
    P* element = elements.data();
    const S* value = values.data();
    Memory::each_in_rows(
        offsets, count,
        [=] __host__ __device__(std::uint64_t row, std::uint64_t e) -> P {
          P found{};
          set_element(found, static_cast<VertexId>(row), value, e);
          return found;
        },
        [=] __host__ __device__(std::uint64_t e, const P& found) { element[e] = found; });
    values = {};
    Memory::sort(cols, elements, 0, num_rows < 2 ? 0 : bits_for(num_rows - 1));
    find_offsets(num_rows);
    keep(std::move(elements));
  }

  /// cols: the new rows of all elements, ascending. Rows without elements end where the one before does.
  void find_offsets(std::uint64_t num_rows) {
    offsets = Memory::template zeros<std::uint64_t>(num_rows + 1);
    const std::uint64_t count = cols.size();
    std::uint64_t* end = offsets.data();
    const VertexId* row = cols.data();
    Memory::each(count, [=] __host__ __device__(std::uint64_t e) {
      if (e + 1 == count || row[e + 1] != row[e]) end[row[e] + 1] = e + 1;
    });
    raise(offsets);
  }

  void keep(Vector<VertexId>&& elements) { cols = std::move(elements); }
  void keep(Vector<RowValue<S>>&& elements) {
    values = Vector<S>(elements.size());
    VertexId* col = cols.data();
    S* value = values.data();
    const RowValue<S>* element = elements.data();
    Memory::each(elements.size(), [=] __host__ __device__(std::uint64_t e) {
      col[e] = row_of(element[e]);
      value[e] = element[e].value;
    });
  }

  std::uint64_t num_columns;
  Vector<std::uint64_t> offsets;  ///< of rows, and the end
  Vector<VertexId> cols;
  Vector<S> values;  ///< none where all elements are 1
};

/// Some rows of such a matrix in the order of a result.
template <class Memory>
struct ResidentRows {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  ResidentRows(std::span<const VertexId> rows, const Vector<std::uint64_t>& offsets,
               HostTransfer<Memory>& transfer)
      : starts(Memory::template zeros<std::uint64_t>(rows.size() + 1)), firsts(rows.size()) {
    Vector<VertexId> sent(rows.size());
    transfer.send(rows.data(), rows.size(), sent.data());
    find(sent, offsets);
  }

  // Parents of device lambdas must be public.
  void find(const Vector<VertexId>& rows, const Vector<std::uint64_t>& offsets) {
    std::uint64_t *start = starts.data(), *first = firsts.data();
    const VertexId* row = rows.data();
    const std::uint64_t* offset = offsets.data();
    Memory::each(rows.size(), [=] __host__ __device__(std::uint64_t i) {
      first[i] = offset[row[i]];
      start[i + 1] = offset[row[i] + 1] - first[i];
    });
    longest = thrust::reduce(Memory::policy(), starts.data(), starts.data() + starts.size(), std::uint64_t{0},
                             thrust::maximum<std::uint64_t>());
    sum_up(starts);
    num_elements = Memory::read(starts.data() + rows.size());
  }

  Vector<std::uint64_t> starts;  ///< elements of the result's rows before each, and of all
  Vector<std::uint64_t> firsts;  ///< where the rows begin in the matrix
  std::uint64_t longest = 0, num_elements = 0;
};

/// Cuts the rows of such a matrix into messages.
template <class Memory, class S>
struct ResidentRowCutter {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  explicit ResidentRowCutter(const MessagesBuildInput& input) : in_(input) {}

  /// Of `Memory`, beside what stays, about.
  static std::uint64_t num_bytes(const MessagesBuildInput& input) {
    const std::uint64_t count = std::min(input.csr.num_nonzeros(), kChunkElements);
    return ResidentMatrix<Memory, S>::num_bytes(input.csr, input.directions, input.rows.size()) +
           checked_mul(count, sorted_bytes_of_element<S>(input.csr.values != nullptr) + 10);
  }

  CutMessages<Memory, S> run() {
    HostTransfer<Memory> transfer;
    ResidentMatrix<Memory, S> matrix(in_.csr, transfer);
    matrix.direct(in_.directions);
    Vector<VertexId> slots(matrix.num_columns);
    transfer.send(in_.slot_of_column, slots.size(), slots.data());
    const ResidentRows<Memory> rows(in_.rows, matrix.offsets, transfer);
    MessageCutter<Memory, S> cutter(in_.shape, slots.data(), rows.num_elements, rows.longest,
                                    in_.csr.values != nullptr,
                                    Memory::template zeros<std::uint32_t>(in_.shape.num_rows + 1),
                                    ElementRoom<Memory>(rows.num_elements));
    const std::vector<ChunkEnd> ends = find_ends(rows);
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) add(matrix, rows, ends[i], ends[i + 1], cutter);
    matrix.cols = {};  // joining the chunks takes most
    matrix.values = {};
    return cutter.finish();
  }

  // Parents of device lambdas must be public.
  struct ChunkEnd {
    std::uint64_t row, elements_before;
  };

  /// The rows where chunks begin, and the end.
  std::vector<ChunkEnd> find_ends(const ResidentRows<Memory>& rows) {
    const std::uint64_t size = in_.chunk_elements > 0 ? in_.chunk_elements : kChunkElements;
    const std::uint64_t num_elements = rows.num_elements, num_rows = in_.rows.size(),
                        num_ends = ceil_div(num_elements, size) + 1;
    Vector<ChunkEnd> found(num_ends);
    ChunkEnd* end = found.data();
    const std::uint64_t* start = rows.starts.data();
    Memory::each(num_ends, [=] __host__ __device__(std::uint64_t i) {
      const std::uint64_t target = i * size < num_elements ? i * size : num_elements;
      const std::uint64_t row = i == 0 ? 0 : first_not_below(start, num_rows, target);
      end[i] = {row, start[row]};
    });
    return Memory::to_host(end, num_ends);
  }

  void add(const ResidentMatrix<Memory, S>& matrix, const ResidentRows<Memory>& rows, const ChunkEnd& begin,
           const ChunkEnd& end, MessageCutter<Memory, S>& cutter) {
    if (begin.row == end.row) return;
    RowChunk<Memory, S> chunk{.first_row = begin.row,
                              .starts = Vector<std::uint64_t>(end.row - begin.row + 1),
                              .from = rows.firsts.data() + begin.row,
                              .cols = matrix.cols.data(),
                              .values = matrix.values.empty() ? nullptr : matrix.values.data()};
    std::uint64_t* to = chunk.starts.data();
    const std::uint64_t *start = rows.starts.data() + begin.row, before = begin.elements_before;
    Memory::each(chunk.starts.size(),
                 [=] __host__ __device__(std::uint64_t i) { to[i] = start[i] - before; });
    cutter.add(std::move(chunk), end.elements_before - begin.elements_before);
  }

  static constexpr std::uint64_t kChunkElements = std::uint64_t{1} << 26;  // 1.7 GB of keys and rows

  const MessagesBuildInput& in_;
};

/// As `input` says, or else as there is room: a quarter of what is free, as the rest of a build takes up to
/// half.
template <class Memory, class S>
CutMessages<Memory, S> cut_host_rows(const MessagesBuildInput& input) {
  const bool stays = input.sending == RowSending::automatic
                         ? ResidentRowCutter<Memory, S>::num_bytes(input) <= Memory::free_bytes() / 4
                         : input.sending == RowSending::as_they_lie;
  const bool must_stay = input.directions != Directions::same;
  try {
    if (stays) return ResidentRowCutter<Memory, S>(input).run();
  } catch (const NoRoomError&) {
    if (must_stay || input.sending != RowSending::automatic) throw;
  }
  if (must_stay) throw NoRoomError("the GPU has no room to turn the edges round");
  return HostRowCutter<Memory, S>(input).run();
}

}  // namespace tessera::cuda
