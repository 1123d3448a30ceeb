// Hubs and authorities on several processes: mpirun -n 2 library_mpi_example links.txt
#include <cstdio>

#include "algorithms/hits.hpp"
#include "engine/io/score_writer.hpp"
#include "engine/load_graph.hpp"
#include "kernels/base/error.hpp"
#include "partition/mpi_communicator.hpp"

void rank(const char* path, tessera::Communicator& processes) {
  using namespace tessera;
  const auto backend = make_backend<double>("cpu");  // for GPUs, one a process, see engine/device_ranks.hpp
  GraphOptions input;
  input.path = path;
  const Graph graph =
      load_graph(input, processes);  // each process holds the rows and labels of a block of ids
  const OperatorOptions matrix{.kernel = KernelKind::automatic, .table = load_perf_table(processes)};
  auto [to_authority, to_hub] = SpmvOperator<double>::in_and_out_edges(graph, matrix, *backend, processes);
  const HitsResult result = hits(to_authority, to_hub, {});

  const Ranking ranking{{}, {{"authority", result.authority}, {"hub", result.hub}}};
  write_rankings({&ranking, 1}, graph.labels, {.top = 3}, processes);  // the first process writes
}

int main(int argc, char** argv) {
  try {
    tessera::MpiSession mpi(argc, argv);
    rank(argc > 1 ? argv[1] : "-", *mpi.world());
    mpi.finish();
  } catch (const tessera::Error& error) {  // the same on every process
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.category());
  }
}
