#include "kernels/formats/graph_cut.hpp"

#include "kernels/base/error.hpp"

#ifdef TESSERA_HAVE_METIS
#include <dlfcn.h>
#include <fmt/format.h>
#include <metis.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>

#include "kernels/base/shared_library.hpp"

namespace tessera {
namespace {

struct MetisLibrary {
  decltype(&METIS_SetDefaultOptions) set_default_options = nullptr;
  decltype(&METIS_PartGraphKway) part_graph = nullptr;
};

/// METIS is built with integers of 32 or 64 bits, and libraries of both go by one name.
void check_integers(const MetisLibrary& metis) {
  constexpr std::size_t kBytes = METIS_NOPTIONS * sizeof(idx_t);
  constexpr unsigned char kUntouched = 0xa5;
  alignas(std::int64_t) unsigned char options[4 * kBytes];
  std::memset(options, kUntouched, sizeof options);
  metis.set_default_options(reinterpret_cast<idx_t*>(options));
  if (options[kBytes - 1] == kUntouched || options[kBytes] != kUntouched)
    throw ResourceError(fmt::format(
        "packet: the METIS library counts with other integers than the {} bits that this build knows",
        8 * sizeof(idx_t)));
}

MetisLibrary load() {
  const std::string name = fmt::format("libmetis.so.{}", METIS_VER_MAJOR);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw ResourceError(
        fmt::format("packet: METIS cannot be loaded ({}); install Debian's libmetis5, or put its folder into "
                    "LD_LIBRARY_PATH",
                    dlerror()));
  MetisLibrary functions;
  find_function(library, "packet: METIS", "METIS_SetDefaultOptions", functions.set_default_options);
  find_function(library, "packet: METIS", "METIS_PartGraphKway", functions.part_graph);
  check_integers(functions);
  return functions;
}

/// Vertices and neighbours as METIS wants them: in both directions, each once, no loops.
struct MetisGraph {
  std::vector<idx_t> first_neighbours, neighbours;

  explicit MetisGraph(const CsrView<double>& a) {
    std::vector<EdgeOffset> in_offsets(a.num_cols + 1, 0);
    for (EdgeOffset k = 0; k < a.num_nonzeros(); ++k) ++in_offsets[a.col_indices[k] + 1];
    std::partial_sum(in_offsets.begin(), in_offsets.end(), in_offsets.begin());
    std::vector<VertexId> in_rows(a.num_nonzeros());
    std::vector<EdgeOffset> next = in_offsets;
    for (std::uint64_t row = 0; row < a.num_rows; ++row)
      for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
        in_rows[next[a.col_indices[k]]++] = static_cast<VertexId>(row);
    first_neighbours.push_back(0);
    neighbours.reserve(2 * a.num_nonzeros());  // as many at most
    std::vector<VertexId> both;
    for (std::uint64_t row = 0; row < a.num_rows; ++row) {
      both.clear();
      std::set_union(a.col_indices + a.row_offsets[row], a.col_indices + a.row_offsets[row + 1],
                     in_rows.data() + in_offsets[row], in_rows.data() + in_offsets[row + 1],
                     std::back_inserter(both));
      for (const VertexId vertex : both)
        if (vertex != row) neighbours.push_back(static_cast<idx_t>(vertex));
      first_neighbours.push_back(checked(neighbours.size()));
    }
  }

 private:
  static idx_t checked(std::uint64_t count) {
    constexpr std::uint64_t kMost = std::numeric_limits<idx_t>::max();
    if (count > kMost)
      throw ResourceError(
          fmt::format("packet: METIS takes at most {} neighbours, the graph has more", kMost));
    return static_cast<idx_t>(count);
  }
};

/// The parts of the vertices; METIS's error, METIS_OK else.
int cut_here(const MetisLibrary& metis, MetisGraph& graph, idx_t num_parts, std::vector<idx_t>& parts) {
  idx_t options[METIS_NOPTIONS];
  metis.set_default_options(options);  // its seed among them, so that every run gives the same parts
  auto num_vertices = static_cast<idx_t>(parts.size());
  idx_t num_balances = 1, cut = 0;
  return metis.part_graph(&num_vertices, &num_balances, graph.first_neighbours.data(),
                          graph.neighbours.data(), nullptr, nullptr, nullptr, &num_parts, nullptr, nullptr,
                          options, &cut, parts.data());
}

bool write_all(int file, const void* data, std::size_t num_bytes) {
  const char* at = static_cast<const char*>(data);
  while (num_bytes > 0) {
    const ssize_t written = write(file, at, num_bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    num_bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

bool read_all(int file, void* data, std::size_t num_bytes) {
  char* at = static_cast<char*>(data);
  while (num_bytes > 0) {
    const ssize_t found = read(file, at, num_bytes);
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) return false;
    at += found;
    num_bytes -= static_cast<std::size_t>(found);
  }
  return true;
}

/// In a process of its own: METIS takes over signals of the whole process while it works, and jumps out of
/// them into the thread that called it.
int cut_in_child(const MetisLibrary& metis, MetisGraph& graph, idx_t num_parts, unsigned most_seconds,
                 std::vector<idx_t>& parts) {
  int ends[2];
  if (pipe(ends) != 0)
    throw ResourceError(fmt::format("packet: no pipe to METIS ({})", std::strerror(errno)));
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGALRM, SIG_DFL);
    alarm(most_seconds);
    const int status = cut_here(metis, graph, num_parts, parts);
    const bool sent = write_all(ends[1], &status, sizeof status) &&
                      write_all(ends[1], parts.data(), parts.size() * sizeof(idx_t));
    _exit(sent ? 0 : 1);
  }
  const int error = errno;
  close(ends[1]);
  int status = METIS_ERROR;
  const bool done = child > 0 && read_all(ends[0], &status, sizeof status) &&
                    read_all(ends[0], parts.data(), parts.size() * sizeof(idx_t));
  close(ends[0]);
  int ended = 0;
  while (child > 0 && waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  if (child < 0) throw ResourceError(fmt::format("packet: no process for METIS ({})", std::strerror(error)));
  if (!done && WIFSIGNALED(ended) && WTERMSIG(ended) == SIGALRM)
    throw ResourceError(fmt::format("packet: METIS has not cut the graph in {} seconds", most_seconds));
  if (!done) throw ResourceError("packet: METIS was ended before it had cut the graph; is memory short?");
  return status;
}

}  // namespace

std::vector<std::uint32_t> cut_graph(const CsrView<double>& a, std::uint64_t num_parts,
                                     unsigned most_seconds) {
  static const MetisLibrary metis = load();
  require(a.num_rows == a.num_cols, "a graph that is cut has a square matrix");
  if (a.num_rows > static_cast<std::uint64_t>(std::numeric_limits<idx_t>::max()))
    throw ResourceError(fmt::format("packet: METIS takes at most {} rows, the matrix has {}",
                                    std::numeric_limits<idx_t>::max(), a.num_rows));
  MetisGraph graph(a);
  std::vector<idx_t> parts(a.num_rows);
  if (graph.neighbours.empty()) {  // which METIS does not ask for
    for (std::uint64_t row = 0; row < a.num_rows; ++row)
      parts[row] = static_cast<idx_t>(row * num_parts / a.num_rows);
    return {parts.begin(), parts.end()};
  }
  const int status = cut_in_child(metis, graph, static_cast<idx_t>(num_parts), most_seconds, parts);
  if (status != METIS_OK)
    throw ResourceError(
        fmt::format("packet: METIS failed to cut a graph of {} vertices into {} parts (error {})", a.num_rows,
                    num_parts, status));
  return {parts.begin(), parts.end()};
}

}  // namespace tessera

#else

namespace tessera {

std::vector<std::uint32_t> cut_graph(const CsrView<double>&, std::uint64_t, unsigned) {
  throw ResourceError(
      "packet: this build has no METIS, which cuts the graph; install Debian's libmetis-dev "
      "and build again");
}

}  // namespace tessera
#endif
