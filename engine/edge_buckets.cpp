// See edge_buckets.hpp. Two passes over the source: count, then scatter. Every thread has a contiguous part
// of the pieces and its own place in each bucket, which keeps file order whatever the number of threads.
#include "engine/edge_buckets.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace tessera {
namespace {

/// 1.5 * 8 bytes an edge while it is sorted: stays in 1 MiB of L2.
constexpr EdgeOffset kEdgesPerBucket = EdgeOffset{40} << 10;
constexpr EdgeOffset kMaxBuckets =
    2048;                         // beyond it buckets grow: each needs a line in L1 or L2 while dealing
constexpr unsigned kStaged = 16;  // entries gathered before they go to memory

/// Pieces [first[g], first[g + 1]) are the part of thread g.
std::vector<std::uint64_t> divide_pieces(std::uint64_t num_pieces, int num_groups) {
  std::vector<std::uint64_t> first(num_groups + 1);
  for (int g = 0; g <= num_groups; ++g) first[g] = num_pieces * g / num_groups;
  return first;
}

/// Gathers the entries of a bucket in cache and writes them a line and a half at a time.
template <class Entry>
class StagedWriter {
 public:
  explicit StagedWriter(std::span<const EdgeOffset> positions)
      : stage_(positions.size() * kStaged),
        filled_(positions.size(), 0),
        positions_(positions.begin(), positions.end()) {}

  void put(Entry* entries, std::uint64_t bucket, const Entry& entry) {
    Entry* stage = &stage_[bucket * kStaged];
    std::uint8_t& filled = filled_[bucket];
    stage[filled] = entry;
    if (++filled == kStaged) {
      std::memcpy(static_cast<void*>(entries + positions_[bucket]), stage, sizeof(Entry) * kStaged);
      positions_[bucket] += kStaged;
      filled = 0;
    }
  }
  void flush(Entry* entries) {
    for (std::uint64_t b = 0; b < filled_.size(); ++b) {
      if (filled_[b] == 0) continue;
      std::memcpy(static_cast<void*>(entries + positions_[b]), &stage_[b * kStaged],
                  sizeof(Entry) * filled_[b]);
    }
  }

 private:
  Buffer<Entry> stage_;
  std::vector<std::uint8_t> filled_;
  std::vector<EdgeOffset> positions_;
};

/// Edges of each group and bin; returns the self-loops.
template <class Source>
std::uint64_t count_bins(const Source& source, const EdgeRules& rules, std::uint32_t first_row, int bin_shift,
                         std::span<const std::uint64_t> first_piece,
                         std::vector<std::vector<EdgeOffset>>& counts) {
  std::uint64_t loops = 0;
  const int num_groups = static_cast<int>(counts.size());
#pragma omp parallel for schedule(static, 1) num_threads(num_groups) reduction(+ : loops)
  for (int g = 0; g < num_groups; ++g) {
    EdgeOffset* bins = counts[g].data();
    for (std::uint64_t piece = first_piece[g]; piece < first_piece[g + 1]; ++piece)
      loops += for_each_directed<false>(source, piece, rules, [&](std::uint32_t, std::uint32_t v, double) {
        ++bins[(v - first_row) >> bin_shift];
      });
  }
  return loops;
}

/// From counts of (group, bin) to the first position of (group, bucket): buckets in order, in a bucket the
/// groups in order.
std::vector<std::vector<EdgeOffset>> group_positions(const BucketPlan& plan,
                                                     const std::vector<std::vector<EdgeOffset>>& counts) {
  std::vector<std::vector<EdgeOffset>> positions(counts.size());
  std::vector<EdgeOffset> next(plan.first_edge.begin(), plan.first_edge.end() - 1);
  for (std::size_t g = 0; g < counts.size(); ++g) {
    positions[g] = next;
    for (std::size_t bin = 0; bin < counts[g].size(); ++bin) next[plan.bucket_of_bin[bin]] += counts[g][bin];
  }
  return positions;
}

template <bool kWeighted, class Source, class Entry>
void scatter(Source& source, const EdgeRules& rules, std::uint32_t first_row, const BucketPlan& plan,
             std::span<const std::uint64_t> first_piece, std::vector<StagedWriter<Entry>>& writers,
             Entry* entries) {
  const int num_groups = static_cast<int>(writers.size());
#pragma omp parallel for schedule(static, 1) num_threads(num_groups)
  for (int g = 0; g < num_groups; ++g) {
    StagedWriter<Entry>& writer = writers[g];
    for (std::uint64_t piece = first_piece[g]; piece < first_piece[g + 1]; ++piece) {
      for_each_directed<kWeighted>(source, piece, rules, [&](std::uint32_t u, std::uint32_t v, double w) {
        const std::uint32_t row = v - first_row;
        const std::uint64_t bucket = plan.bucket_of_bin[row >> plan.bin_shift];
        const auto row_in_bucket = static_cast<std::uint16_t>(row - plan.first_row[bucket]);
        if constexpr (kWeighted)
          writer.put(entries, bucket, {u, row_in_bucket, w});
        else
          writer.put(entries, bucket, {u, row_in_bucket});
      });
      source.release(piece);
    }
    writer.flush(entries);
  }
}

}  // namespace

EdgeOffset BucketPlan::largest() const {
  EdgeOffset most = 0;
  for (std::uint64_t b = 0; b < num_buckets(); ++b) most = std::max(most, first_edge[b + 1] - first_edge[b]);
  return most;
}

int choose_bin_shift(std::uint64_t num_rows, EdgeOffset num_edges) {
  const EdgeOffset wanted =
      std::clamp<EdgeOffset>(std::bit_ceil(num_edges / kEdgesPerBucket * 8 + 1), 1 << 8, 1 << 14);
  const int row_bits = static_cast<int>(std::bit_width(num_rows == 0 ? 0 : num_rows - 1));
  return std::clamp(row_bits - std::countr_zero(wanted), 0, 16);
}

BucketPlan plan_buckets(std::span<const EdgeOffset> bin_edges, int bin_shift, std::uint64_t num_rows) {
  EdgeOffset total = 0;
  for (EdgeOffset edges : bin_edges) total += edges;
  const EdgeOffset limit = std::max(kEdgesPerBucket, total / kMaxBuckets);
  BucketPlan plan;
  plan.bin_shift = bin_shift;
  plan.first_row = {0};
  plan.first_edge = {0};
  EdgeOffset end = 0;
  for (std::uint64_t bin = 0; bin < bin_edges.size(); ++bin) {
    const std::uint64_t row = bin << bin_shift;
    const bool full = end > plan.first_edge.back() && end + bin_edges[bin] - plan.first_edge.back() > limit;
    const bool wide = row + (std::uint64_t{1} << bin_shift) - plan.first_row.back() > kMaxRowsPerBucket;
    if (bin > 0 && (full || wide)) {
      plan.first_row.push_back(row);
      plan.first_edge.push_back(end);
    }
    plan.bucket_of_bin.push_back(static_cast<std::uint16_t>(plan.first_row.size() - 1));
    end += bin_edges[bin];
  }
  plan.first_row.push_back(num_rows);
  plan.first_edge.push_back(end);
  return plan;
}

template <bool kWeighted, class Source>
EdgeBuckets<kWeighted> deal_edges(Source& source, const EdgeRules& rules, std::uint32_t first_row,
                                  std::uint64_t num_rows) {
  using Entry = typename EdgeBuckets<kWeighted>::Entry;
  EdgeOffset num_edges = 0;
  for (std::uint64_t p = 0; p < source.num_pieces(); ++p) num_edges += source.num_edges(p);
  const int bin_shift = choose_bin_shift(num_rows, num_edges * (rules.undirected ? 2 : 1));
  const auto num_bins = static_cast<std::size_t>(num_rows == 0 ? 1 : ((num_rows - 1) >> bin_shift) + 1);
  const int num_groups = std::max(1, omp_get_max_threads());
  const std::vector<std::uint64_t> first_piece = divide_pieces(source.num_pieces(), num_groups);

  EdgeBuckets<kWeighted> buckets;
  std::vector<std::vector<EdgeOffset>> counts(num_groups, std::vector<EdgeOffset>(num_bins, 0));
  buckets.self_loops = count_bins(source, rules, first_row, bin_shift, first_piece, counts);
  std::vector<EdgeOffset> bin_edges(num_bins, 0);
  for (const auto& group : counts)
    for (std::size_t bin = 0; bin < num_bins; ++bin) bin_edges[bin] += group[bin];
  buckets.plan = plan_buckets(bin_edges, bin_shift, num_rows);
  buckets.memory = std::make_unique<PageMemory>(checked_mul(buckets.plan.first_edge.back(), sizeof(Entry)));
  std::vector<StagedWriter<Entry>> writers;
  for (const auto& positions : group_positions(buckets.plan, counts)) writers.emplace_back(positions);
  scatter<kWeighted>(source, rules, first_row, buckets.plan, first_piece, writers,
                     static_cast<Entry*>(buckets.memory->data()));
  source.clear();
  return buckets;
}

template EdgeBuckets<false> deal_edges(PairSource&, const EdgeRules&, std::uint32_t, std::uint64_t);
template EdgeBuckets<true> deal_edges(PairSource&, const EdgeRules&, std::uint32_t, std::uint64_t);
template EdgeBuckets<false> deal_edges(GraphSource&, const EdgeRules&, std::uint32_t, std::uint64_t);
template EdgeBuckets<true> deal_edges(GraphSource&, const EdgeRules&, std::uint32_t, std::uint64_t);

}  // namespace tessera
