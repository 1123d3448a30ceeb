// Ranked results to TSV, CSV, JSON or NPY, sorted by score (highest first), ties by label, numbers with
// the fewest digits that read back the same. Used by tools/.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/label_table.hpp"
#include "partition/communicator.hpp"

namespace tessera {

enum class ScoreFormat { tsv, csv, json, npy, table };

/// One result column, such as "score" or "authority": values in original vertex order, all vertices (or of
/// the ranking's nodes), on every rank.
struct ScoreColumn {
  std::string name;
  std::span<const double> values;
};

/// One ranking: sorted by its first column. RWR has one of these a query, the others exactly one.
struct Ranking {
  std::optional<std::string> query;  ///< label of the query node, for RWR
  std::vector<ScoreColumn> columns;
  /// Where the columns have the values of these alone: the best in ranking order, as many as are asked for or
  /// all. Not for npy.
  std::optional<std::span<const VertexId>> nodes = std::nullopt;
};

struct ScoreWriterOptions {
  std::string path = "-";
  ScoreFormat format = ScoreFormat::tsv;
  std::optional<std::uint64_t> top;  ///< at most so many nodes a ranking; none = all
};

/// By suffix (.tsv .csv .json .npy); "-" and what is in /dev are TSV. Throws OptionError naming
/// the known suffixes.
ScoreFormat score_format_of(const std::string& path);

/// Collective. Each rank sorts and formats the vertices whose labels it holds; rank 0 merges the streams
/// piece by piece, so no rank holds all labels or the whole text. Throws ResourceError.
///
/// tsv, csv: a header line "[query] node NAME...", then one line a node; labels quoted where needed
///   (engine/io/csv_text.hpp).
/// json: {"rankings": [{"query": ..., "nodes": [{"node": ..., NAME: ...}, ...]}, ...]}, "query" only where
///   there is one. Integer labels are numbers up to 2^53, which every JSON reader holds exactly; larger ones
///   and string labels are strings.
/// npy: scores in vertex order as float64 (n, or n x columns, or queries x n), labels beside it in
///   PATH.labels.txt, one a line, quoted where they hold line breaks; `top` is refused (OptionError) because
///   the order would be lost, and so is "-".
/// table: for terminals: position, label cut to 40 characters and escaped, 6 digits; rank 0 holds all of it.
void write_rankings(std::span<const Ranking> rankings, const LabelTable& labels,
                    const ScoreWriterOptions& options, Communicator& comm);

}  // namespace tessera
