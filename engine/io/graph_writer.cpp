#include "engine/io/graph_writer.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/graph_stats.hpp"
#include "engine/io/atomic_file.hpp"
#include "engine/io/csv_text.hpp"
#include "engine/io/format_probe.hpp"
#include "engine/io/label_gather.hpp"
#include "engine/io/label_list_writer.hpp"
#include "engine/io/label_text.hpp"
#include "engine/io/number_text.hpp"
#include "engine/io/piece_stream.hpp"
#include "engine/io/terminal_text.hpp"
#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

/// Appends the end of an edge: a label or a number.
using AppendVertex = std::function<void(std::string&, VertexId)>;

/// Lines of local edges [begin, end).
void append_edges(std::string& out, const Graph& graph, EdgeOffset begin, EdgeOffset end,
                  const AppendVertex& append_vertex, char separator) {
  const EdgeOffset* offsets = graph.row_offsets.data();
  std::uint64_t row = static_cast<std::uint64_t>(
      std::upper_bound(offsets, offsets + graph.num_local_rows + 1, begin) - offsets - 1);
  for (EdgeOffset e = begin; e < end; ++e) {
    while (e >= offsets[row + 1]) ++row;
    append_vertex(out, graph.col_indices[e]);
    out.push_back(separator);
    append_vertex(out, static_cast<VertexId>(graph.first_row + row));
    if (graph.weighted) {
      out.push_back(separator);
      append_number(out, graph.weights[e]);
    }
    out.push_back('\n');
  }
}

/// All edges, rank after rank, formatted on all threads; use(text) on rank 0. Collective.
void each_piece_of_edges(const Graph& graph, const AppendVertex& append_vertex, char separator,
                         const std::function<void(std::string_view)>& use, Communicator& comm) {
  constexpr EdgeOffset kEdgesPerTask = 1 << 13;
  constexpr EdgeOffset kEdgesPerPiece = 16 * kEdgesPerTask;
  const EdgeOffset num_edges = graph.col_indices.size();
  EdgeOffset next = 0;
  const auto produce = [&](std::string& piece) {
    const EdgeOffset end = std::min(num_edges, next + kEdgesPerPiece);
    std::vector<std::string> texts(ceil_div(end - next, kEdgesPerTask));
    tbb::parallel_for(std::size_t{0}, texts.size(), [&](std::size_t task) {
      const EdgeOffset first = next + task * kEdgesPerTask;
      append_edges(texts[task], graph, first, std::min(end, first + kEdgesPerTask), append_vertex, separator);
    });
    for (const std::string& text : texts) piece.append(text);
    next = end;
  };
  concatenate_pieces(comm, produce, use);
}

void check_no_isolated_vertices(const Graph& graph, const std::string& path, Communicator& comm) {
  const Buffer<std::uint64_t> out = out_degrees(graph, comm);
  std::uint64_t isolated = 0;
  for (std::uint64_t row = 0; row < graph.num_local_rows; ++row)
    isolated += graph.row_offsets[row] == graph.row_offsets[row + 1] && out[graph.first_row + row] == 0;
  isolated = all_sum(comm, isolated);
  if (isolated != 0)
    throw InputError(
        fmt::format("cannot write \"{}\": {} vertices have no edges and would be lost in an edge list; "
                    "write .mtx or .tsr",
                    path, isolated));
}

bool fits_tab_form(std::string_view label) {
  if (label.empty() || label.find_first_of(" \t\n\r\v\f\"") != std::string_view::npos) return false;
  return label[0] != '#' && label[0] != '%' && !label.starts_with("//") && !label.starts_with("\xEF\xBB\xBF");
}

void check_tab_form(const LabelTable& mine, const std::string& path) {
  if (has_integer_labels(mine)) return;
  for (std::uint64_t i = 0; i < mine.size(); ++i) {
    const std::string_view label = string_label(mine, static_cast<VertexId>(mine.first_id + i));
    if (!fits_tab_form(label))
      throw InputError(
          fmt::format("cannot write \"{}\": the label \"{}\" would not read back from a list with tabs "
                      "(white space, quotes, or the start of a comment); write .csv or .tsr",
                      path, terminal_cell(label, 60)));
  }
}

/// The begin of an edge list on its way to a file: that no reader takes it for something else (a first line
/// for names of columns, say).
class HeadCheck {
 public:
  HeadCheck(const std::string& path, bool csv, bool weighted) : csv_(csv) {
    options_.weighted = weighted;
    head_.name = path;
  }
  /// What is written next. As much of it is kept as read_head looks at.
  void see(std::string_view text) {
    while (!text.empty() && !is_enough()) {
      const std::string_view next = text.substr(0, std::max(kFirstBytes, head_.text.size()));
      head_.text.append(next);
      text.remove_prefix(next.size());
    }
    is_cut_ = is_cut_ || !text.empty();
  }
  /// All is written. Throws InputError.
  void finish() {
    head_.complete = !is_cut_;
    try {
      const TextFormat format = probe_format(head_, options_);
      if (format.body_offset == 0 && (format.delimiter == ',') == csv_) return;
    } catch (const InputError&) {  // told below
    }
    throw InputError(
        fmt::format("cannot write \"{}\": its first line \"{}\" would not read back as an edge; write .tsr "
                    "or .mtx",
                    head_.name, terminal_cell(head_.text.substr(0, head_.text.find('\n')), 60)));
  }

 private:
  static constexpr std::size_t kFirstBytes = std::size_t{1} << 16, kLastBytes = std::size_t{32} << 20;
  bool is_enough() const {
    const std::size_t size = head_.text.size();
    return size >= kLastBytes || (size >= kFirstBytes && shows_two_data_lines(head_));
  }

  bool csv_;
  GraphOptions options_;
  TextHead head_;
  bool is_cut_ = false;
};

void open_on_root(std::optional<AtomicFile>& file, const std::string& path, Communicator& comm) {
  run_together(comm, [&] {
    if (comm.is_root()) file.emplace(path);
  });
}

void commit_on_root(std::optional<AtomicFile>& file, Communicator& comm) {
  run_together(comm, [&] {
    if (file) file->commit();
  });
}

/// The same of a matrix and its labels. Where it needs none, a list that an older matrix has left goes away.
void commit_with_label_list(std::optional<AtomicFile>& file, std::optional<AtomicFile>& label_list,
                            const std::string& path, Communicator& comm) {
  run_together(comm, [&] {
    if (!file) return;
    if (label_list) return AtomicFile::commit_both(*label_list, *file);
    file->commit_without(label_list_path(path));
  });
}

/// Whether label = id + 1 everywhere.
bool labels_are_one_based(const LabelTable& mine, Communicator& comm) {
  std::uint64_t others = 0;
  if (mine.kind == LabelKind::range) return mine.first_label == 1;
  if (mine.kind == LabelKind::string) return false;
  for (std::uint64_t i = 0; i < mine.size(); ++i) others += mine.integers[i] != mine.first_id + i + 1;
  return all_sum(comm, others) == 0;
}

}  // namespace

void write_edge_list(const Graph& graph, const std::string& path, Communicator& comm) {
  const bool csv = path.ends_with(".csv");
  check_no_isolated_vertices(graph, path, comm);
  run_together(comm, [&] {
    if (!csv) check_tab_form(graph.labels, path);
  });
  const LabelTable labels = gather_labels(graph.labels, comm);
  const auto append_label = [&](std::string& out, VertexId id) {
    if (has_integer_labels(labels)) {
      append_number(out, integer_label(labels, id));
    } else if (csv) {
      append_field(out, string_label(labels, id), ',');
    } else {
      out.append(string_label(labels, id));
    }
  };
  std::optional<AtomicFile> file;
  open_on_root(file, path, comm);
  HeadCheck head(path, csv, graph.weighted);
  const auto write = [&](std::string_view text) {
    head.see(text);
    file->write(text);
  };
  each_piece_of_edges(graph, append_label, csv ? ',' : '\t', write, comm);
  run_together(comm, [&] {
    if (file) head.finish();
  });
  commit_on_root(file, comm);
}

void write_matrix_market(const Graph& graph, const std::string& path, Communicator& comm) {
  std::optional<AtomicFile> file, label_list;
  open_on_root(file, path, comm);
  if (!labels_are_one_based(graph.labels, comm)) {
    open_on_root(label_list, label_list_path(path), comm);
    write_label_list(graph.labels, label_list, comm);
  }
  run_together(comm, [&] {
    if (!file) return;
    file->write(graph.weighted ? "%%MatrixMarket matrix coordinate real general\n"
                               : "%%MatrixMarket matrix coordinate pattern general\n");
    file->write(fmt::format("{0} {0} {1}\n", graph.num_vertices, graph.num_edges));
  });
  const auto append_id = [](std::string& out, VertexId id) { append_number(out, std::uint64_t{id} + 1); };
  const auto write = [&](std::string_view text) { file->write(text); };
  each_piece_of_edges(graph, append_id, ' ', write, comm);
  commit_with_label_list(file, label_list, path, comm);
}

}  // namespace tessera
