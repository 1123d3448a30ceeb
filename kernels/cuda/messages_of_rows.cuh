// Messages before each row of a matrix, the rows that have some, and what those of all rows are together.
#pragma once
#include "kernels/cuda/bin_edges.cuh"
#include "kernels/cuda/reduction.cuh"
#include "kernels/cuda/running_sums.cuh"
#include "kernels/cuda/side_stream.cuh"

namespace tessera::cuda {

/// Messages of rows, as they are counted.
template <class Memory>
struct RowCounts {
  BuildVector<Memory, std::uint32_t> counts;  ///< of all rows, behind a 0
  std::uint64_t num_rows = 0;                 ///< those behind have no messages
  std::uint64_t num_elements = 0;             ///< of all messages
  std::uint64_t most_of_row = 0;              ///< messages that a row may have
};

// Of functors instead of lambdas, so that they may be used in more than one translation unit
// (device_builds.cu).
struct CountedRow {
  const std::uint32_t* counts;
  /// Messages in the lower half, rows with some in the upper one.
  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const {
    return counts[i] | std::uint64_t{counts[i] > 0 ? 1u : 0u} << 32;
  }
};
struct SeeRow {
  const std::uint32_t* counts;
  std::uint64_t size, most_of_row;
  std::uint32_t* before;
  VertexId* linked;
  RowFindings* found;

  __host__ __device__ void operator()(std::uint64_t i, std::uint64_t sum) const {
    const auto num_messages = static_cast<std::uint32_t>(sum);
    const std::uint64_t num_linked = sum >> 32;
    before[i] = num_messages;
    if (counts[i] > 0) linked[num_linked - 1] = static_cast<VertexId>(i - 1);  // counts lie behind a 0
    if (i + 1 == size) *found = {most_of_row, num_linked, num_messages};
  }
};
struct FindingsOfRow {
  const std::uint32_t* counts;
  __host__ __device__ RowFindings operator()(std::uint64_t i) const {
    return {counts[i], counts[i] > 0 ? 1u : 0u, counts[i]};
  }
};
struct HasMessages {
  const std::uint32_t* before;
  __host__ __device__ bool operator()(VertexId row) const { return before[row + 1] > before[row]; }
};

template <class Memory>
struct MessagesOfRows {
  template <class T>
  using Vector = BuildVector<Memory, T>;
  Vector<std::uint32_t> before;  ///< messages before each row, and the end
  /// Rows with messages, in order, and room behind them. Of many rows only after list(), which need not be
  /// done before the host hears of findings.
  Vector<VertexId> linked;
  Vector<RowFindings> findings;  ///< one

  /// most_told: a number of messages that a row may have without it being said how many the row with the most
  /// has.
  MessagesOfRows(RowCounts<Memory> of, std::uint64_t most_told, SideStream<Memory>& side)
      : before(of.counts.size()) {
    // Sums of 64 bits take those of messages and of rows.
    if (of.counts.size() <= kMostSummed<std::uint64_t> && of.num_elements < kNoVertex &&
        of.most_of_row <= most_told)
      sum_up_few(of);
    else
      sum_up_many(of, side);
    num_rows_ = of.num_rows;
  }

  void list() {
    if (linked.empty()) linked = indices_where<VertexId, Memory>(num_rows_, HasMessages{before.data()});
  }

 private:
  void sum_up_few(const RowCounts<Memory>& of) {
    const std::uint64_t size = of.counts.size();
    const std::uint32_t* const counts = of.counts.data();
    linked = Vector<VertexId>(of.num_rows);
    findings = Vector<RowFindings>(1);
    sum_up_seen<std::uint64_t, Memory>(
        size, CountedRow{counts},
        SeeRow{counts, size, of.most_of_row, before.data(), linked.data(), findings.data()});
  }

  /// On a device side by side.
  void sum_up_many(const RowCounts<Memory>& of, SideStream<Memory>& side) {
    const typename SideStream<Memory>::Settled settled{side};  // before counts are freed, whatever happens
    findings = sum_of<RowFindings, Memory>(of.num_rows + 1, FindingsOfRow{of.counts.data()}, &side);
    sum_up(of.counts, before);
    side.join();
  }

  std::uint64_t num_rows_ = 0;
};

}  // namespace tessera::cuda
