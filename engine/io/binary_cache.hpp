// The project's own file: CSR of in-edges and labels, versioned, checksummed, memory-mapped (.tsr).
// docs/cache-format.md describes every byte.
#pragma once
#include <string>

#include "engine/graph.hpp"
#include "engine/graph_options.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// Whether the file at `path` starts with the cache's magic bytes. False when it cannot be read.
bool is_binary_cache(const std::string& path);

/// Writes beside `path` and renames; the old file stays when anything fails. Collective: rank 0 writes,
/// the others send their blocks one after the other.
void write_binary_cache(const Graph& graph, const std::string& path, Communicator& comm);

/// Maps the file; each rank takes its block of rows (and Graph::mapped, where all have mapped one file).
/// Everything in the header is checked against the length of the file before anything is allocated, every
/// section against its checksum, row offsets for being ascending and columns for being in range. Throws
/// InputError naming the field. The rules of `options` that change edges (undirected, reverse, self-loops)
/// are applied after reading; what a cache no longer knows (--duplicates drop of edges that were merged) is
/// an OptionError.
Graph read_binary_cache(const GraphOptions& options, Communicator& comm);

}  // namespace tessera
