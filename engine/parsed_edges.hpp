// Edges as parsers hand them to the graph builder: labels not yet turned into vertex ids.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/graph.hpp"
#include "engine/label_table.hpp"
#include "kernels/base/buffer.hpp"

namespace tessera {

/// A run of edges from one place of the file. Edge i is sources[i] -> targets[i]. Chunks are kept in file
/// order (over ranks: rank 0's chunks come first), which "the first of repeated edges" refers to.
struct EdgeChunk {
  Buffer<std::uint32_t> pairs;       ///< source, target, source, target ... when every key fits 32 bits
  Buffer<std::uint64_t> wide_pairs;  ///< the same with 64-bit keys; one of the two is empty
  Buffer<double> weights;            ///< one an edge, or empty
  std::uint32_t dictionary = 0;      ///< kind string: which dictionary the keys index
  std::uint64_t num_edges() const { return (pairs.size() + wide_pairs.size()) / 2; }
};

/// Distinct strings in order of first appearance; key = position.
struct StringDictionary {
  std::vector<std::uint64_t> offsets{0};  ///< size() + 1 positions in bytes
  std::string bytes;
  std::uint64_t size() const { return offsets.size() - 1; }
  std::string_view text(std::uint64_t key) const {
    return std::string_view(bytes).substr(offsets[key], offsets[key + 1] - offsets[key]);
  }
};

/// What one rank parsed. Keys are: the integer labels themselves (kind integer), positions in a dictionary
/// (kind string), or 0-based vertex ids (kind range, with num_vertices declared by the file).
struct ParsedEdges {
  LabelKind kind = LabelKind::integer;
  std::vector<EdgeChunk> chunks;
  std::vector<StringDictionary> dictionaries;  ///< kind string: one a parser thread
  std::uint64_t max_key = 0;                   ///< kind integer: largest label seen on this rank
  bool weighted = false;                       ///< every chunk has weights
  bool undirected = false;                     ///< resolved from options and header: add reverse edges
  bool reverse = false;
  std::uint64_t first_label = 0;        ///< kind range
  std::uint64_t declared_vertices = 0;  ///< kind range
  GraphFacts facts;                     ///< counts of this rank; text fields equal on all ranks
};

}  // namespace tessera
