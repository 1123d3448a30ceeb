// Bins of rows whose messages are counted in some Memory: the host cuts them (kernels/message_bins.hpp) where
// equal parts of all messages begin, which it asks that Memory for.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/side_stream.cuh"
#include "kernels/message_bins.hpp"

namespace tessera::cuda {

/// What a look at the messages of all rows finds.
struct RowFindings {
  std::uint64_t most_messages = 0;               ///< of a row; or what none has more of, if that is few
  std::uint64_t num_rows = 0, num_messages = 0;  ///< rows with some; of all

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

/// What the host is told of all rows at once, as each wait costs time: edges of the parts that cut_bins()
/// asks for first, if there is room for them, a word each, and behind them findings.
struct RowsTold {
  static constexpr std::uint64_t kFindings = 3;
  const RowFindings* found;
  MessagesBefore before;
  std::uint64_t room;  ///< for edges
  BinLimits limits;
  std::uint64_t* told;  ///< room + kFindings

  /// Parts whose edges are told; none of more messages than bins can have, or where there is no room.
  __host__ __device__ static std::uint64_t num_parts(std::uint64_t num_messages, std::uint64_t room,
                                                     const BinLimits& limits) {
    const std::uint64_t parts = count_first_parts(num_messages, limits);
    return num_messages < kNoVertex && parts < room ? parts : 0;
  }
  static RowFindings findings(std::span<const std::uint64_t> words) { return {words[0], words[1], words[2]}; }
  __host__ __device__ std::uint64_t finding(std::uint64_t i) const {
    return i == 0 ? found->most_messages : i == 1 ? found->num_rows : found->num_messages;
  }
  static BinEdge edge_of(std::uint64_t word) { return std::bit_cast<BinEdge>(word); }
  __host__ __device__ std::uint64_t edge(std::uint64_t part) const {
    const std::uint64_t parts = num_parts(found->num_messages, room, limits);
    if (parts == 0 || part > parts) return 0;
    const BinEdge edge =
        before.edge(end_of_part(part, parts, static_cast<std::uint32_t>(found->num_messages)));
    static_assert(std::endian::native == std::endian::little && sizeof edge == sizeof(std::uint64_t));
    return std::uint64_t{edge.messages_before} << 32 | edge.row;
  }
  __host__ __device__ void operator()(std::uint64_t i) const {
    tell_host(told + i, i < room ? edge(i) : finding(i - room));
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

/// Cuts rows into bins. What the host needs for that it reads at once, before it is known how many messages
/// there are; only where these are more than was thought, or bins do not come out, it asks again. Of functors
/// instead of lambdas, so that it may be used in more than one translation unit.
template <class Memory>
class BinEdges {
 public:
  template <class T>
  using Vector = BuildVector<Memory, T>;

  /// before_row: messages before each row, and of all; it lives as long as this. found: in Memory, one, of
  /// the same. likely_messages: edges are read of as many at least. What meanwhile() launches need not end
  /// before.
  template <class F>
  BinEdges(const Vector<std::uint32_t>& before_row, const RowFindings* found, std::uint64_t likely_messages,
           const BinLimits& limits, SideStream<Memory>& side, const F& meanwhile)
      : before_{before_row.data(), before_row.size()}, limits_(limits) {
    check(limits);
    const std::uint64_t room = count_first_parts(likely_messages, limits) + 1;
    Memory::each(room + RowsTold::kFindings,
                 RowsTold{found, before_, room, limits, side.words_to_tell(room + RowsTold::kFindings)});
    meanwhile();
    const std::span<const std::uint64_t> told = side.told_words();
    found_ = RowsTold::findings(told.subspan(room));
    const std::uint64_t num_parts = RowsTold::num_parts(found_.num_messages, room, limits);
    first_.resize(num_parts == 0 ? 0 : num_parts + 1);
    std::transform(told.begin(), told.begin() + static_cast<std::ptrdiff_t>(first_.size()), first_.begin(),
                   RowsTold::edge_of);
  }

  const RowFindings& found() const { return found_; }

  /// As tessera::cut_bins() has them, of fewer than 2^32 messages. Another call reads again.
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
  std::vector<BinEdge> first_;  // of the parts that are asked for first, unless none were told
};

}  // namespace tessera::cuda
