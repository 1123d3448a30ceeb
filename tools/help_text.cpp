#include "tools/help_text.hpp"

#include <fmt/format.h>

#include "tools/all_commands.hpp"

namespace tessera::cli {
namespace {

constexpr const char* kExitCodes = R"(Exit codes
    0  fine (also when the reader of a pipe left early, as in `tessera ... | head`)
    1  internal error: a fault of the program, please report it
    2  usage: an option or its value
    3  not converged: scores and report are written
    4  bad input: the message names file, line and what was expected
    5  resource: memory, disk, device, communication
  130  interrupted by SIGINT (Ctrl-C); 143 by SIGTERM, 129 by SIGHUP. No scores are written; a report, where
       work could stop at a step, says interrupted
)";

constexpr const char* kFormats = R"(Input, found by content (--format overrides)
  edge list      two labels a line, third column a weight (--weighted); blanks, tabs, commas, semicolons, |
                 or --delimiter; lines that begin with # % or // are comments; SNAP files as published
  csv            the same with a header line and quotes by RFC 4180 (no line breaks inside quotes); --columns
                 picks by name or number
  konect         out.* files; their first line decides direction and weights
  mtx            Matrix Market coordinate: pattern, integer, real; general, symmetric (skew-symmetric with
                 --unweighted)
  cache          .tsr, made by `tessera convert`: checked, memory-mapped; neither compressed nor piped
  All but the cache may be compressed (gzip, zstd, bzip2, xz) or in an archive (.tar.gz, .zip) with one graph
  in it. Lists of neighbours (node neighbour neighbour ...), arrows (a -> b) and lines of sizes are not read:
  give one edge a line.

Output of scores (--output)
  .tsv .csv      node, score (hits: node, authority, hub; rwr: query, node, score), best first, ties by label
  .json          {"rankings": [{"nodes": [{"node": ..., "score": ...}, ...]}]}; rwr: one entry with "query" each
  .npy           all nodes in node order as float64, labels beside it in FILE.labels.txt; hits: a column for
                 authority and one for hub; rwr: a row for each query

Output of graphs (convert, generate)
  .tsr           cache
  .tsv .txt .el .csv   edge list
  .mtx           Matrix Market; labels beside it in FILE.labels.txt, unless they are 1..n

Options files (--config) are INI: keys before any section hold for every command, keys in [pagerank] for
pagerank only; lines that begin with # or ; are comments, a # inside a value belongs to it.
)";

constexpr const char* kMpi = R"(Several processes
  mpirun -n 4 tessera pagerank links.txt -o scores.tsv

  Each process reads its part of an uncompressed file and holds its part of the matrix. The scores are the
  same, bit for bit, for any number of processes and threads.
  mpirun binds each of up to two processes to one core, and more of them to whole sockets. Better say it:
    mpirun -n 2 --bind-to none tessera ...           share all cores of the machine
    mpirun -n 4 --map-by slot:PE=8 tessera ...       8 cores each
  Threads follow the affinity mask; processes with the same cores share them (--threads N overrides). More
  processes than cores: mpirun --oversubscribe.
  GPUs: one a process, in the order of the processes on a machine (CUDA_VISIBLE_DEVICES counts; without mpirun
  the first alone is started):
    mpirun -n 4 --map-by slot:PE=8 tessera pagerank g.tsr --backend cuda --precision f32 -o scores.tsv
  With --backend cuda more processes than GPUs are an error; with auto the CPU computes then (-v says so).
  What computed and how GPUs exchanged is in --report (backend.name; exchange.kind: "peers",
  by NCCL "device", through MPI "host").
  Standard input (-) is read by the first process. An error of one process ends all of them.
  Open MPI's mpirun may crash when a reader of its output leaves early (... | head): use --top N or -o FILE.
)";

}  // namespace

std::string program_help() {
  std::string text =
      "tessera ranks the nodes of a graph: PageRank, HITS, random walks with restart.\n\n"
      "Usage: tessera COMMAND ... [options]\n       mpirun -n P tessera COMMAND ...\n\nCommands:\n";
  for (const CommandEntry& entry : all_commands()) {
    const std::string summary = entry.make()->summary();
    text += fmt::format("  {:<10} {}\n", entry.name, summary.substr(0, summary.find('\n')));
  }
  return text +
         "  help       about a command, or: exit-codes, formats, mpi\n"
         "  version    version, and what was built in: compiler, MPI, CUDA, NCCL, ...\n\n"
         "Examples:\n"
         "  tessera pagerank links.txt --top 20\n"
         "  tessera convert links.txt.gz links.tsr\n"
         "  tessera rwr links.tsr --query 17 -o near.csv\n\n"
         "`tessera COMMAND --help` lists the options of a command.\n";
}

std::string topic_help(const std::string& topic) {
  if (topic == "exit-codes") return kExitCodes;
  if (topic == "formats") return kFormats;
  if (topic == "mpi") return kMpi;
  std::vector<std::string> topics{"exit-codes", "formats", "mpi"};
  for (const CommandEntry& entry : all_commands()) {
    if (topic == entry.name) return entry.make()->help();
    topics.emplace_back(entry.name);
  }
  if (topic == "help" || topic == "version") return program_help();
  throw OptionError(fmt::format("unknown help topic \"{}\"{}; `tessera help` lists commands and topics",
                                topic, did_you_mean(topic, topics)));
}

}  // namespace tessera::cli
