// Ranks an edge list and prints the three best nodes: library_example links.txt
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "algorithms/pagerank.hpp"
#include "engine/graph_stats.hpp"
#include "engine/load_graph.hpp"
#include "kernels/base/error.hpp"

void rank(const char* path) {
  using namespace tessera;
  const auto processes = make_single_rank();  // with MPI: MpiSession(argc, argv).world()
  const auto backend = make_backend<double>("auto");
  GraphOptions input;
  input.path = path;
  const Graph graph = load_graph(input, *processes);
  const OperatorOptions matrix{.kernel = KernelKind::automatic, .table = load_perf_table(*processes)};
  auto links = SpmvOperator<double>::in_edges(graph, matrix, *backend, *processes);
  PageRankOptions options;
  options.damping = 0.9;
  const auto scores = pagerank(links, out_weights(graph, *processes), options).scores;

  std::vector<VertexId> order(scores.size());
  std::iota(order.begin(), order.end(), VertexId{0});
  std::stable_sort(order.begin(), order.end(), [&](auto u, auto v) { return scores[u] > scores[v]; });
  order.resize(std::min<std::size_t>(order.size(), 3));
  for (const VertexId v : order) std::printf("%s %.4f\n", graph.labels.text(v).c_str(), scores[v]);
}

int main(int argc, char** argv) {
  try {
    rank(argc > 1 ? argv[1] : "-");
  } catch (const tessera::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.category());
  }
}
