#include "engine/io/score_writer.hpp"

#include <array>

#include "engine/io/atomic_file.hpp"
#include "engine/io/label_list_writer.hpp"
#include "engine/io/npy_header.hpp"
#include "engine/io/ranking_merge.hpp"
#include "engine/io/ranking_rows.hpp"
#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

constexpr std::array<std::pair<const char*, ScoreFormat>, 4> kSuffixes{{{".tsv", ScoreFormat::tsv},
                                                                        {".csv", ScoreFormat::csv},
                                                                        {".json", ScoreFormat::json},
                                                                        {".npy", ScoreFormat::npy}}};

void check_arguments(std::span<const Ranking> rankings, const LabelTable& labels,
                     const ScoreWriterOptions& options) {
  for (const Ranking& ranking : rankings) {
    require(!ranking.columns.empty(), "a ranking needs a column");
    require(ranking.query.has_value() == rankings[0].query.has_value(), "all rankings have a query, or none");
    require(ranking.query.has_value() || rankings.size() == 1, "several rankings need queries");
    require(!ranking.nodes || options.format != ScoreFormat::npy, "arrays are of all vertices");
    for (const ScoreColumn& column : ranking.columns)
      require(ranking.nodes ? column.values.size() == ranking.nodes->size()
                            : column.values.size() >= labels.first_id + labels.size(),
              "a column lacks values");
  }
  if (options.format != ScoreFormat::npy) return;
  if (options.top)
    throw OptionError(
        "--top with .npy output: an array is in vertex order, so a part of it would not say which "
        "nodes it holds; write .tsv, .csv or .json, or leave --top out");
  if (options.path == "-")
    throw OptionError("npy output needs a file name, because labels go to a second file beside it");
}

void write_npy(std::span<const Ranking> rankings, AtomicFile& file) {
  const std::uint64_t num_vertices = rankings.empty() ? 0 : rankings[0].columns[0].values.size();
  const bool queries = rankings.empty() || rankings[0].query.has_value();
  const std::size_t num_columns = queries ? 1 : rankings[0].columns.size();
  std::vector<std::uint64_t> shape{num_vertices};
  if (queries) shape.insert(shape.begin(), rankings.size());
  if (num_columns > 1) shape.push_back(num_columns);
  file.write(npy_header_float64(shape));
  std::vector<double> row(num_columns);
  for (const Ranking& ranking : rankings) {
    if (num_columns == 1) {
      const std::span<const double> values = ranking.columns[0].values;
      file.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
      continue;
    }
    for (std::uint64_t i = 0; i < num_vertices; ++i) {
      for (std::size_t c = 0; c < num_columns; ++c) row[c] = ranking.columns[c].values[i];
      file.write({reinterpret_cast<const char*>(row.data()), row.size() * sizeof(double)});
    }
  }
}

/// Rank 0 writes inside collective phases alone, where its errors reach all ranks; what belongs between them
/// waits in `pending`, which is returned at the end for the last phase.
std::string write_text(std::span<const Ranking> rankings, const LabelTable& labels,
                       const ScoreWriterOptions& options, Communicator& comm,
                       std::optional<AtomicFile>& file) {
  const bool json = options.format == ScoreFormat::json, table = options.format == ScoreFormat::table;
  std::string pending;
  if (json) pending = "{\"rankings\": [\n";
  if (!json && !table && !rankings.empty())
    pending = ranking_header(rankings[0], options.format == ScoreFormat::csv ? ',' : '\t');
  for (const Ranking& ranking : rankings) {
    const RankingRows rows(ranking, labels, options.format);
    const bool first_ranking = &ranking == rankings.data();
    bool first_row = true;
    std::string table_rows;
    if (json) pending += rows.json_begin(first_ranking);
    merge_ranking(ranking, labels, rows, options.top, comm, [&](std::string_view text) {
      if (table) {
        table_rows.append(text);
        return;
      }
      file->write(pending);
      pending.clear();
      file->write(json && first_row ? text.substr(1) : text);  // no comma before the first
      first_row = false;
    });
    if (json) pending += RankingRows::json_end();
    if (table && !first_ranking) pending.push_back('\n');
    if (table) pending += format_table(ranking, table_rows);
  }
  if (json) pending += "\n]}\n";
  return pending;
}

}  // namespace

ScoreFormat score_format_of(const std::string& path) {
  for (const auto& [suffix, format] : kSuffixes)
    if (path.ends_with(suffix)) return format;
  if (path == "-" || path.starts_with("/dev/")) return ScoreFormat::tsv;
  throw OptionError("cannot tell the format of \"" + path +
                    "\": expected a name that ends in .tsv, .csv, .json or .npy, \"-\", or one in /dev");
}

void write_rankings(std::span<const Ranking> rankings, const LabelTable& labels,
                    const ScoreWriterOptions& options, Communicator& comm) {
  check_arguments(rankings, labels, options);
  const bool with_label_list = options.format == ScoreFormat::npy;
  std::optional<AtomicFile> file, label_list;  // on rank 0
  run_together(comm, [&] {
    if (!comm.is_root()) return;
    file.emplace(options.path);
    if (with_label_list) label_list.emplace(label_list_path(options.path));
  });
  std::string pending;
  if (with_label_list) {
    write_label_list(labels, label_list, comm);
    run_together(comm, [&] {
      if (file) write_npy(rankings, *file);
    });
  } else {
    pending = write_text(rankings, labels, options, comm, file);
  }
  run_together(comm, [&] {
    if (!file) return;
    file->write(pending);
    if (label_list)
      AtomicFile::commit_both(*label_list, *file);
    else
      file->commit();
  });
}

}  // namespace tessera
