// Input files made by tests, and what the reader made of them in a form that is easy to compare.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "engine/io/edge_reader.hpp"
#include "kernels/base/error.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {

/// A file with the given bytes, gone at the end of the scope. Its folder is new, so `name` is kept.
class InputText {
 public:
  explicit InputText(const std::string& bytes, const std::string& name = "graph.txt") {
    folder_ = testing::TempDir() + "tessera-XXXXXX";
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = folder_ + "/" + name;
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~InputText() {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  InputText(const InputText&) = delete;
  InputText& operator=(const InputText&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string folder_, path_;
};

using Edge = std::tuple<std::string, std::string, double>;

/// Edges by label in file order; weight 1 when there are none.
inline std::vector<Edge> edges_of(const ParsedEdges& parsed) {
  std::vector<Edge> edges;
  for (const EdgeChunk& chunk : parsed.chunks) {
    const auto label = [&](std::size_t i) {
      const std::uint64_t key = chunk.pairs.empty() ? chunk.wide_pairs[i] : chunk.pairs[i];
      if (parsed.kind == LabelKind::string)
        return std::string(parsed.dictionaries[chunk.dictionary].text(key));
      return std::to_string(key + parsed.first_label);
    };
    for (std::size_t i = 0; i < chunk.num_edges(); ++i)
      edges.emplace_back(label(2 * i), label(2 * i + 1), parsed.weighted ? chunk.weights[i] : 1);
  }
  return edges;
}

/// What reading gave: of all ranks together, in rank order.
struct ReadResult {
  std::vector<Edge> edges;
  ParsedEdges first;  ///< of rank 0
  GraphFacts sums;    ///< counts of all ranks
  std::string error;
  int category = 0;
};

inline ReadResult read_input(GraphOptions options, const std::string& path, int ranks = 1,
                             const ReadTuning& tuning = {}) {
  options.path = path;
  ReadResult result;
  std::vector<ParsedEdges> parts(ranks);
  try {
    run_ranks(ranks, [&](Communicator& comm) { parts[comm.rank()] = read_edges(options, comm, {}, tuning); });
  } catch (const Error& error) {
    result.error = error.what();
    result.category = static_cast<int>(error.category());
    return result;
  }
  for (const ParsedEdges& part : parts) {
    const std::vector<Edge> edges = edges_of(part);
    result.edges.insert(result.edges.end(), edges.begin(), edges.end());
    result.sums.lines_read += part.facts.lines_read;
    result.sums.edges_read += part.facts.edges_read;
    result.sums.zero_weights += part.facts.zero_weights;
    result.sums.extra_columns += part.facts.extra_columns;
  }
  result.first = std::move(parts[0]);
  return result;
}

inline ReadResult read_text(const std::string& bytes, const GraphOptions& options = {}, int ranks = 1,
                            const ReadTuning& tuning = {}, const std::string& name = "graph.txt") {
  const InputText file(bytes, name);
  ReadResult result = read_input(options, file.path(), ranks, tuning);
  // Messages without the folder, which differs from run to run.
  const std::string folder = file.path().substr(0, file.path().size() - name.size());
  for (std::size_t at; (at = result.error.find(folder)) != std::string::npos;)
    result.error.erase(at, folder.size());
  return result;
}

inline bool has_note(const ReadResult& result, const std::string& part) {
  for (const std::string& note : result.first.facts.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace tessera::test
