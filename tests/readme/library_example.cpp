// Ranks an edge list and prints the three best nodes: library_example links.txt
#include <cstdio>
#include <new>

#include "algorithms/pagerank.hpp"
#include "engine/graph_stats.hpp"
#include "engine/io/score_writer.hpp"
#include "engine/load_graph.hpp"
#include "kernels/base/error.hpp"

void rank(const char* path, tessera::Communicator& processes) {
  using namespace tessera;
  const auto backend = make_backend<double>("auto");
  GraphOptions input;
  input.path = path;
  const Graph graph = load_graph(input, processes);
  const OperatorOptions matrix{.kernel = KernelKind::automatic, .table = load_perf_table(processes)};
  auto links = SpmvOperator<double>::in_edges(graph, matrix, *backend, processes);
  PageRankOptions options;
  options.damping = 0.9;
  const auto scores = pagerank(links, out_weights(graph, processes), options).scores;  // of all nodes, by id

  const Ranking ranking{{}, {{"score", scores}}};
  write_rankings({&ranking, 1}, graph.labels, {.top = 3}, processes);
}

int main(int argc, char** argv) {
  try {
    rank(argc > 1 ? argv[1] : "-", *tessera::make_single_rank());
  } catch (const tessera::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.category());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "out of memory\n");
    return static_cast<int>(tessera::ErrorCategory::resource);
  }
}
