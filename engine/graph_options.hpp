// How an input is read and turned into a graph. Plain data; tools fill it, readers and the builder obey.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tessera {

enum class InputFormat { automatic, edge_list, csv, konect, matrix_market, cache };
enum class LabelChoice { automatic, integer, string };
enum class Duplicates {
  merge,  ///< once when unweighted, weights summed when weighted
  keep,   ///< parallel edges stay (each counts)
  drop,   ///< the first of them in file order stays, with its weight
};
enum class SelfLoops { keep, drop };
enum class HeaderLine { automatic, yes, no };

struct GraphOptions {
  std::string path;  ///< "-" = standard input
  InputFormat format = InputFormat::automatic;
  std::optional<char> delimiter;  ///< none = found: white space, tab, comma or semicolon
  HeaderLine header = HeaderLine::automatic;
  /// "src,dst[,weight]": numbers from 1, or names of a header line; empty = the first two (and third).
  std::string columns;
  LabelChoice labels = LabelChoice::automatic;
  bool weighted = false;    ///< use weights; a format or header may also ask for it
  bool unweighted = false;  ///< ignore weights that a header declares
  bool undirected = false;  ///< add the reverse of each edge
  bool directed = false;    ///< do not, although a header declares the graph undirected
  bool reverse = false;     ///< u v means v -> u
  Duplicates duplicates = Duplicates::merge;
  SelfLoops self_loops = SelfLoops::keep;
  std::string archive_member;  ///< which file of an archive; empty = the one that looks like a graph
  /// Told how many nodes a header declares before memory is taken for them, on every rank; may throw, on all
  /// ranks alike.
  std::function<void(std::uint64_t num_nodes)> check_declared_nodes;
  /// Whether GPUs may make both directions of so many edges of a cache; asked on every rank, which all must
  /// answer alike. Unset: none do.
  std::function<bool(std::uint64_t num_edges)> may_use_device;
};

}  // namespace tessera
