// A graph as the engine holds it between reading and solving: for every vertex its in-edges, in label
// order, dealt to ranks in contiguous blocks of ids (one block with one rank).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/graph_options.hpp"
#include "engine/label_table.hpp"
#include "engine/mapped_rows.hpp"
#include "kernels/base/buffer.hpp"
#include "kernels/csr_view.hpp"

namespace tessera {

/// Counts of what reading found and did; global (summed over ranks).
struct GraphFacts {
  std::uint64_t lines_read = 0;
  std::uint64_t edges_read = 0;  ///< entries of the file, before any rule
  std::uint64_t self_loops = 0;  ///< found in the file
  std::uint64_t self_loops_dropped = 0;
  std::uint64_t duplicate_edges = 0;  ///< repeated (source, target) pairs beyond the first, after
                                      ///< --undirected; merged, kept or dropped as asked
  std::uint64_t zero_weights = 0;
  std::uint64_t extra_columns = 0;  ///< lines with more columns than used
  std::string format;               ///< e.g. "edge list", "KONECT", "Matrix Market", "tessera cache"
  std::string compression;          ///< "none", "gzip", ...
  std::string label_choice;         ///< e.g. "integer (all labels are canonical integers)"
  bool undirected = false;          ///< both directions were made of each edge
  bool reversed = false;
  Duplicates duplicates = Duplicates::merge;  ///< the rule that was applied; a cache must know it
  std::vector<std::string> notes;             ///< what the user should know, one sentence each
};

/// In-edges: row v (target) lists the sources u of edges u -> v, ascending; that is row v of A^T.
/// This rank holds the rows [first_row, first_row + num_local_rows).
struct Graph {
  std::uint64_t num_vertices = 0;  ///< of the whole graph
  EdgeOffset num_edges = 0;        ///< of the whole graph, after the rules for duplicates and loops
  bool weighted = false;
  VertexId first_row = 0;
  std::uint64_t num_local_rows = 0;
  Buffer<EdgeOffset> row_offsets;  ///< num_local_rows + 1, starting at 0
  Buffer<VertexId> col_indices;    ///< global ids
  Buffer<double> weights;          ///< empty when unweighted
  LabelTable labels;               ///< of the ids of this rank's rows
  GraphFacts facts;
  /// Known, because it was made so: every edge has its reverse, as often.
  bool is_symmetric = false;
  /// On several ranks that have mapped one file, on all or none: what the edges are made of. Whoever leaves
  /// edges out lets go of it.
  std::optional<MappedEdges> mapped;

  CsrView<double> in_edges() const {
    return {num_local_rows, num_vertices, row_offsets.data(), col_indices.data(),
            weighted ? weights.data() : nullptr};
  }
  /// The rows of `mapped`, as they lie.
  CsrView<double> mapped_csr() const {
    return {num_vertices, num_vertices, mapped->rows->row_offsets.data(), mapped->rows->col_indices.data(),
            weighted ? mapped->rows->weights.data() : nullptr};
  }
};

/// First row of each rank's block, and num_vertices at the end (size num_ranks + 1): blocks of equal size.
std::vector<std::uint64_t> block_boundaries(std::uint64_t num_vertices, int num_ranks);

}  // namespace tessera
