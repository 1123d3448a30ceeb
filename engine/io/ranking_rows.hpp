// One node of a ranking as text, for each text format; and what stands before, between and after the rows.
// Used by score_writer.
#pragma once
#include <string>
#include <unordered_map>

#include "engine/io/score_writer.hpp"

namespace tessera {

/// Rows of one ranking. Threads may share it.
class RankingRows {
 public:
  /// Keeps references. `format` is not npy.
  RankingRows(const Ranking& ranking, const LabelTable& labels, ScoreFormat format);

  /// Text of the vertex `id`, which `labels` holds. json: begins with the comma that separates it from the
  /// row before. table: cells separated by tabs, one line.
  void append_row(std::string& out, VertexId id) const;
  /// json: what stands around the rows of this ranking; `first` is for the first ranking of a file.
  std::string json_begin(bool first) const;
  static std::string json_end() { return "\n]}"; }

 private:
  void append_json_row(std::string& out, VertexId id) const;
  void append_table_row(std::string& out, VertexId id) const;
  void append_label(std::string& out, VertexId id) const;
  /// Where the columns have the values of the vertex.
  std::size_t place_of(VertexId id) const;

  const Ranking& ranking_;
  const LabelTable& labels_;
  ScoreFormat format_;
  char delimiter_;
  std::unordered_map<VertexId, std::size_t> place_of_node_;  ///< where a ranking has some nodes alone
  std::string query_field_;  ///< tsv, csv: the query and its delimiter, in front of each row
};

/// "query node score" as the header line of tsv and csv.
std::string ranking_header(const Ranking& ranking, char delimiter);

/// Aligned columns from rows of format table (each with its tabs and line end): position, label, numbers.
std::string format_table(const Ranking& ranking, std::string_view rows);

}  // namespace tessera
