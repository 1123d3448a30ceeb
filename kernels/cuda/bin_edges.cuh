// Bins of rows whose messages are counted in some Memory: the host cuts them (kernels/message_bins.hpp) where
// equal parts of all messages begin, which it asks that Memory for.
#pragma once
#include <utility>
#include <vector>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/side_stream.cuh"
#include "kernels/message_bins.hpp"

namespace tessera::cuda {

/// What a look at the messages of all rows finds.
struct RowFindings {
  std::uint64_t most_messages = 0, num_rows = 0, num_messages = 0;  ///< of a row; rows with some; of all

  __host__ __device__ friend RowFindings operator+(const RowFindings& a, const RowFindings& b) {
    return {a.most_messages < b.most_messages ? b.most_messages : a.most_messages, a.num_rows + b.num_rows,
            a.num_messages + b.num_messages};
  }
};

/// Messages before each row, and of all.
struct MessagesBefore {
  const std::uint32_t* rows;
  std::uint64_t size;

  __host__ __device__ BinEdge edge(std::uint32_t target) const {
    const std::uint64_t row = first_not_below(rows, size, target);
    return {static_cast<VertexId>(row), rows[row]};
  }
};

/// What the host is told of all rows in one array, as each read costs time: edges of the parts that
/// cut_bins() asks for first, of up to most_messages messages, and behind them findings, a number an entry.
struct RowsTold {
  static constexpr std::uint64_t kFindings = 3;
  const RowFindings* found;
  MessagesBefore before;
  std::uint64_t most_messages, num_edges;
  BinLimits limits;
  BinEdge* told;  ///< room for num_edges + kFindings

  __host__ __device__ static BinEdge entry_of(std::uint64_t number) {
    return {static_cast<VertexId>(number), static_cast<std::uint32_t>(number >> 32)};
  }
  static std::uint64_t number_of(const BinEdge& entry) {
    return std::uint64_t{entry.messages_before} << 32 | entry.row;
  }
  __host__ __device__ void operator()(std::uint64_t i) const {
    const RowFindings all = *found;
    if (i >= num_edges) {
      const std::uint64_t number = i - num_edges;
      told[i] = entry_of(number == 0 ? all.most_messages : number == 1 ? all.num_rows : all.num_messages);
      return;
    }
    const bool has_room = all.num_messages <= most_messages;
    const std::uint64_t num_parts = has_room ? count_first_parts(all.num_messages, limits) : 0;
    told[i] = has_room && i <= num_parts
                  ? before.edge(end_of_part(i, num_parts, static_cast<std::uint32_t>(all.num_messages)))
                  : BinEdge{};
  }
};

struct FindTargets {
  MessagesBefore before;
  const std::uint32_t* targets;
  BinEdge* edges;
  __host__ __device__ void operator()(std::uint64_t i) const { edges[i] = before.edge(targets[i]); }
};
struct FindParts {
  MessagesBefore before;
  std::uint64_t num_parts;
  std::uint32_t num_messages;
  BinEdge* edges;
  __host__ __device__ void operator()(std::uint64_t i) const {
    edges[i] = before.edge(end_of_part(i, num_parts, num_messages));
  }
};

/// Of functors instead of lambdas, so that it may be used in more than one translation unit.
template <class Memory>
class BinEdges {
 public:
  template <class T>
  using Vector = BuildVector<Memory, T>;

  /// before_row: messages before each row, and of all. found: in Memory, one, of the same. Reads what it
  /// needs for bins of up to most_messages messages; what meanwhile() launches need not end before.
  template <class F>
  BinEdges(const Vector<std::uint32_t>& before_row, const RowFindings* found, std::uint64_t most_messages,
           const BinLimits& limits, SideStream<Memory>& side, const F& meanwhile)
      : before_{before_row.data(), before_row.size()}, limits_(limits) {
    check(limits);
    const std::uint64_t num_edges = count_first_parts(most_messages, limits) + 1;
    Vector<BinEdge> told(num_edges + RowsTold::kFindings);
    Memory::each(told.size(), RowsTold{found, before_, most_messages, num_edges, limits, told.data()});
    first_ = side.to_host(told.data(), told.size(), meanwhile);
    const auto number = [&](std::size_t i) { return RowsTold::number_of(first_[num_edges + i]); };
    found_ = {number(0), number(1), number(2)};
    first_.resize(found_.num_messages <= most_messages ? count_first_parts(found_.num_messages, limits) + 1
                                                       : 0);
  }

  const RowFindings& found() const { return found_; }

  /// As tessera::cut_bins() has them; once. Of fewer than 2^32 messages.
  std::vector<BinEdge> cut() {
    const auto num_messages = static_cast<std::uint32_t>(found_.num_messages);
    const FindRows find{
        .of_targets = [&](std::span<const std::uint32_t> targets) { return find_targets(targets); },
        .of_parts =
            [&](std::uint64_t num_parts) {
              return num_parts + 1 == first_.size() ? std::exchange(first_, {})
                                                    : find_parts(num_parts, num_messages);
            }};
    return cut_bins(before_.size - 1, num_messages, found_.most_messages, find, limits_);
  }

 private:
  std::vector<BinEdge> find_targets(std::span<const std::uint32_t> targets) const {
    const auto wanted = Memory::template from_host<std::uint32_t>(targets);
    Vector<BinEdge> edges(targets.size());
    Memory::each(edges.size(), FindTargets{before_, wanted.data(), edges.data()});
    return Memory::to_host(edges.data(), edges.size());
  }
  std::vector<BinEdge> find_parts(std::uint64_t num_parts, std::uint32_t num_messages) const {
    Vector<BinEdge> edges(num_parts + 1);
    Memory::each(edges.size(), FindParts{before_, num_parts, num_messages, edges.data()});
    return Memory::to_host(edges.data(), edges.size());
  }

  MessagesBefore before_;
  BinLimits limits_;
  RowFindings found_;
  std::vector<BinEdge> first_;  // of the parts that are asked for first; none of more messages than thought
};

}  // namespace tessera::cuda
