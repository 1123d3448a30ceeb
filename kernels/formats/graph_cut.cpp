#include "kernels/formats/graph_cut.hpp"

#include "kernels/base/error.hpp"

#ifdef TESSERA_HAVE_METIS
#include <dlfcn.h>
#include <fmt/format.h>
#include <metis.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

namespace tessera {
namespace {

struct MetisLibrary {
  decltype(&METIS_SetDefaultOptions) set_default_options = nullptr;
  decltype(&METIS_PartGraphKway) part_graph = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) throw ResourceError(fmt::format("packet: {} is not in the METIS library", name));
  function = reinterpret_cast<Function>(symbol);
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
  find(library, "METIS_SetDefaultOptions", functions.set_default_options);
  find(library, "METIS_PartGraphKway", functions.part_graph);
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

}  // namespace

std::vector<std::uint32_t> cut_graph(const CsrView<double>& a, std::uint64_t num_parts) {
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
  idx_t options[METIS_NOPTIONS];
  metis.set_default_options(options);
  options[METIS_OPTION_SEED] = 1;  // the same parts in every run
  auto num_vertices = static_cast<idx_t>(a.num_rows), count = static_cast<idx_t>(num_parts);
  idx_t num_balances = 1, cut = 0;
  const int status =
      metis.part_graph(&num_vertices, &num_balances, graph.first_neighbours.data(), graph.neighbours.data(),
                       nullptr, nullptr, nullptr, &count, nullptr, nullptr, options, &cut, parts.data());
  if (status != METIS_OK)
    throw ResourceError(
        fmt::format("packet: METIS failed to cut a graph of {} vertices into {} parts (error {})", a.num_rows,
                    num_parts, status));
  return {parts.begin(), parts.end()};
}

}  // namespace tessera

#else

namespace tessera {

std::vector<std::uint32_t> cut_graph(const CsrView<double>&, std::uint64_t) {
  throw ResourceError(
      "packet: this build has no METIS, which cuts the graph; install Debian's libmetis-dev "
      "and build again");
}

}  // namespace tessera
#endif
