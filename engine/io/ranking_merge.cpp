#include "engine/io/ranking_merge.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/io/piece_stream.hpp"
#include "engine/score_order.hpp"

namespace tessera {
namespace {

constexpr std::size_t kRowsPerPiece = std::size_t{1} << 16;
constexpr std::size_t kRowsPerTask = std::size_t{1} << 11;

template <class T>
void append_array(std::string& out, const std::vector<T>& values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <class T>
std::size_t read_array(const std::string& bytes, std::size_t position, std::vector<T>& values) {
  std::memcpy(values.data(), bytes.data() + position, values.size() * sizeof(T));
  return position + values.size() * sizeof(T);
}

/// Rows of one rank's piece with what merging needs: number of rows, vertices, row ends, text.
struct RankingPiece {
  std::vector<RankedVertex> vertices;
  std::vector<std::uint64_t> row_ends;  ///< positions in text
  std::string text;
  std::size_t next = 0;  ///< first row not yet written
  bool at_end() const { return next == vertices.size(); }
  const RankedVertex& head() const { return vertices[next]; }

  void encode(std::string& out) const {
    append_array(out, std::vector<std::uint64_t>{vertices.size()});
    append_array(out, vertices);
    append_array(out, row_ends);
    out.append(text);
  }
  static RankingPiece decode(const std::string& bytes) {
    RankingPiece piece;
    if (bytes.empty()) return piece;
    std::vector<std::uint64_t> count(1);
    std::size_t position = read_array(bytes, 0, count);
    piece.vertices.resize(count[0]);
    piece.row_ends.resize(count[0]);
    position = read_array(bytes, position, piece.vertices);
    position = read_array(bytes, position, piece.row_ends);
    piece.text = bytes.substr(position);
    return piece;
  }
  /// Text of the rows [next, end); moves next.
  std::string_view take(std::size_t end) {
    const std::uint64_t first_byte = next == 0 ? 0 : row_ends[next - 1];
    next = end;
    return std::string_view(text).substr(first_byte, row_ends[end - 1] - first_byte);
  }
};

/// Formats rows on all threads.
RankingPiece format_piece(std::span<const RankedVertex> order, const RankingRows& rows) {
  RankingPiece piece;
  piece.vertices.assign(order.begin(), order.end());
  piece.row_ends.resize(order.size());
  std::vector<std::string> texts(ceil_div(order.size(), kRowsPerTask));
  tbb::parallel_for(std::size_t{0}, texts.size(), [&](std::size_t task) {
    const std::size_t end = std::min(order.size(), (task + 1) * kRowsPerTask);
    for (std::size_t i = task * kRowsPerTask; i < end; ++i) {
      rows.append_row(texts[task], order[i].id);
      piece.row_ends[i] = texts[task].size();
    }
  });
  std::size_t total = 0;
  for (const std::string& text : texts) total += text.size();
  piece.text.reserve(total);
  for (std::size_t task = 0; task < texts.size(); ++task) {
    const std::size_t end = std::min(order.size(), (task + 1) * kRowsPerTask);
    for (std::size_t i = task * kRowsPerTask; i < end; ++i) piece.row_ends[i] += piece.text.size();
    piece.text.append(texts[task]);
  }
  return piece;
}

/// Repeatedly writes the longest run of rows of one rank that come before the heads of all others.
void merge(std::vector<RankingPiece>& pieces, const std::function<void(int)>& refill, std::uint64_t limit,
           const std::function<void(std::string_view)>& write) {
  while (limit > 0) {
    int best = -1, second = -1;
    for (int rank = 0; rank < static_cast<int>(pieces.size()); ++rank) {
      if (pieces[rank].at_end()) continue;
      if (best < 0 || pieces[rank].head() < pieces[best].head()) {
        second = best;
        best = rank;
      } else if (second < 0 || pieces[rank].head() < pieces[second].head()) {
        second = rank;
      }
    }
    if (best < 0) return;
    RankingPiece& piece = pieces[best];
    const std::size_t last = piece.next + std::min<std::uint64_t>(limit, piece.vertices.size() - piece.next);
    std::size_t end = second < 0 ? last : piece.next + 1;
    while (end < last && piece.vertices[end] < pieces[second].head()) ++end;
    limit -= end - piece.next;
    write(piece.take(end));
    if (piece.at_end()) refill(best);
  }
}

/// Of the vertices whose labels are here.
std::vector<RankedVertex> order_of(const Ranking& ranking, const LabelTable& labels,
                                   std::optional<std::uint64_t> top) {
  const std::span<const double> scores = ranking.columns[0].values;
  if (!ranking.nodes) return ranking_order(scores, labels.first_id, labels.size(), top);
  std::vector<RankedVertex> order;
  for (std::size_t i = 0; i < ranking.nodes->size(); ++i) {
    const VertexId id = (*ranking.nodes)[i];
    if (id >= labels.first_id && id - labels.first_id < labels.size())
      order.push_back({ranking_key(scores[i]), id});
  }
  return order;
}

}  // namespace

void merge_ranking(const Ranking& ranking, const LabelTable& labels, const RankingRows& rows,
                   std::optional<std::uint64_t> top, Communicator& comm,
                   const std::function<void(std::string_view)>& write) {
  std::vector<RankedVertex> order;
  std::size_t position = 0;
  bool sorted = false;
  const auto next_piece = [&] {
    if (!sorted) order = order_of(ranking, labels, top);
    sorted = true;
    const std::size_t count = std::min(kRowsPerPiece, order.size() - position);
    position += count;
    return format_piece(std::span(order).subspan(position - count, count), rows);
  };
  const auto produce = [&](std::string& out) {
    const RankingPiece piece = next_piece();
    if (!piece.vertices.empty()) piece.encode(out);
  };
  stream_pieces(comm, produce, [&](PieceReader& reader) {
    std::vector<RankingPiece> pieces(comm.size());
    // Rank 0's own pieces need not be packed for sending.
    const auto refill = [&](int rank) {
      pieces[rank] = rank == 0 ? next_piece() : RankingPiece::decode(reader.next(rank));
    };
    for (int rank = 0; rank < comm.size(); ++rank) refill(rank);
    merge(pieces, refill, top.value_or(std::numeric_limits<std::uint64_t>::max()), write);
  });
}

}  // namespace tessera
