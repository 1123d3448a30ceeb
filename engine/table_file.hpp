// Where measured tables of a machine are kept, and reading them: a file a processor or GPU model in the
// user's cache folder, written by `tessera tune`.
#pragma once
#include <exception>
#include <string>

#include "partition/communicator.hpp"

namespace tessera {

/// A name in letters, digits and '-'.
std::string name_for_files(std::string name);

/// $XDG_CACHE_HOME/tessera/<name>.table.json (or ~/.cache). Throws ResourceError when neither variable names
/// a folder.
std::string table_path(const std::string& name);

/// What is wrong with a text that the JSON library has given up with `error`, in words of ours; what() of any
/// other error.
std::string json_complaint(const std::exception& error);

/// The day a table was measured: 2026-11-21 (UTC).
std::string today();

struct TableText {
  std::string text, path;
};
/// What `tessera tune` has written under this name, else `fallback`, also where the name is empty.
/// Collective: rank 0 reads, so that ranks on different machines plan alike; only its `name` counts.
TableText read_table(const std::string& name, const TableText& fallback, Communicator& comm);

}  // namespace tessera
