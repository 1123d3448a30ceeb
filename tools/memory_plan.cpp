#include "tools/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/device_model.hpp"
#include "kernels/base/error.hpp"
#include "kernels/block_padding.hpp"
#include "kernels/rows_in_fours.hpp"
#include "kernels/tile_composite_view.hpp"
#include "partition/run_together.hpp"

namespace tessera::cli {
namespace {

constexpr double kPaddingAllowance = 1.25;
/// Degrees, weights, start and jump vectors in double, whatever the algorithm; slots and rows of a matrix.
constexpr std::uint64_t kBytesAVertex = 64, kBytesAVertexAndMatrix = 24;

std::uint64_t scaled(std::uint64_t bytes, double factor) {
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * factor);
}

/// While one matrix is packed: its row pieces, the edges turned round, and rows on their way between ranks
/// (sent and received, or copies of mapped ones; the block form goes the same way on one rank).
std::uint64_t packing_bytes(std::uint64_t edges, bool weighted, const MemoryShape& shape,
                            std::uint64_t matrix_bytes, bool is_exchanged) {
  const std::uint64_t loaded = checked_mul(edges, sizeof(VertexId) + (weighted ? sizeof(double) : 0));
  std::uint64_t bytes = shape.is_block ? matrix_bytes : matrix_bytes / shape.num_matrices;
  if (shape.num_matrices > 1) bytes += loaded;
  if (is_exchanged || shape.is_block) bytes += checked_mul(loaded, shape.is_block ? 4 : 2);
  return bytes;
}

/// While a device packs a matrix of `packed` bytes, besides these: two matrices more (1.3 were seen), or what
/// sorting the messages takes, where there are many: offsets and values of all elements, and of a message
/// row, first element, key and number, the last two twice. Then cells (tile x bin), those without messages,
/// too: of each seven classes of slices and their first slices, its first message and place.
double device_packing_bytes(const DeviceWork& work, double packed, std::uint32_t tile_columns) {
  constexpr double kMatrices = 2, kOffsetBytes = 2, kMessageBytes = 4 + 8 + 2 * (8 + 4);
  constexpr double kCellBytes = 7 * (4 + 8) + 4 + 4;
  constexpr double kBinBytes = 1 << 16;  // its messages, mostly more
  const double element_bytes = kOffsetBytes + (work.weighted ? work.value_bytes : 0);
  const double sorting = element_bytes * work.num_nonzeros + kMessageBytes * work.num_messages;
  const double tiles = std::ceil(work.num_columns / std::max(1.0, static_cast<double>(tile_columns)));
  const double bins = std::ceil(work.num_messages * work.value_bytes / kBinBytes);
  return std::max(kMatrices * packed, sorting - packed) + kCellBytes * tiles * bins;
}

/// While a device packs CSR, besides that: the rows as they lie on the host, and where they begin there and
/// in the result; slots.
double device_csr_packing_bytes(const DeviceWork& work, double ranks) {
  constexpr double kColumnBytes = 4, kRowBytes = 8 + 8 + 4, kSlotBytes = 4;
  const double own =
      (kColumnBytes + (work.weighted ? work.value_bytes : 0)) * work.num_nonzeros + kRowBytes * work.num_rows;
  return own / ranks + kSlotBytes * work.num_columns;
}

/// That go through a matrix together: of a batch as many as pay on a CPU; all, padded for CSR on a GPU, but
/// one by one where it has tile-messages.
std::uint64_t width_of_products(const MemoryShape& shape, std::uint64_t value_bytes,
                                const SpmvPlan* on_device) {
  if (on_device == nullptr) return std::min(shape.batch, kMostHostVectors);
  if (on_device->kernel == KernelKind::tile_messages) return 1;
  return on_device->kernel == KernelKind::csr ? padded_vectors(shape.batch, value_bytes) : shape.batch;
}

/// In memory at a time.
std::uint64_t vectors_together(const MemoryShape& shape, std::uint64_t value_bytes,
                               const SpmvPlan* on_device) {
  return checked_mul(shape.num_vectors, width_of_products(shape, value_bytes, on_device));
}

std::uint64_t vector_bytes(std::uint64_t num_vertices, std::uint64_t num_ranks, std::uint64_t value_bytes,
                           std::uint64_t vectors, const MemoryShape& shape) {
  const std::uint64_t whole_block = vectors * value_bytes * (num_ranks > 1 ? 2 : 1);
  const std::uint64_t own_block = vectors * ((shape.accelerates ? 4 : 3) * value_bytes + sizeof(double));
  const std::uint64_t a_vertex = kBytesAVertex * (shape.is_block ? 2 : 1) +
                                 shape.num_matrices * kBytesAVertexAndMatrix + whole_block +
                                 checked_mul(shape.num_results, sizeof(double));
  return checked_add(checked_mul(num_vertices, a_vertex),
                     checked_mul(ceil_div(num_vertices, num_ranks), own_block));
}

/// Beside a matrix in CSR, for products of so many vectors: 16 bytes a run of rows, and sums of rows that are
/// cut. The last batch of walks may be too narrow for rows in fours, which are dealt apart.
double device_block_bytes(const DeviceWork& work, std::uint64_t num_vectors) {
  if (num_vectors == 1) return 0;
  constexpr double kRunBytes = 16;
  const auto deal_bytes = [&](const MostOfDeal& most, std::uint64_t vectors) {
    return kRunBytes / 2 * work.num_rows +
           (kRunBytes / most.elements_of_run +
            most.sums_an_element * static_cast<double>(vectors * sizeof(double))) *
               work.num_nonzeros;
  };
  if (!adds_in_fours(num_vectors, static_cast<std::uint64_t>(work.value_bytes)))
    return deal_bytes(kMostOfDeal, num_vectors);
  return deal_bytes(kMostOfDeal, kFewVectors) + deal_bytes(kMostOfDealInFours, num_vectors);
}

/// What an invocation may use instead, where a GPU has too little memory for `plan`.
std::string device_memory_remedy(const SpmvPlan& plan, const MemoryShape& shape, Precision precision) {
  std::string remedy;
  const auto add = [&](bool helps, const char* what) {
    if (helps) remedy += std::string(remedy.empty() ? "" : ", ") + what;
  };
  add(shape.batch > 1 && plan.kernel != KernelKind::tile_messages, "a smaller --batch");
  add(shape.packs_on_device, "--pack host");
  add(precision == Precision::f64, "--precision f32");
  return remedy + (remedy.empty() ? "" : " or ") + "--backend cpu";
}

}  // namespace

MemoryPlan plan_memory(const Graph& graph, const MemoryShape& shape, Precision precision, Communicator& comm,
                       const SpmvPlan* on_device) {
  const std::uint64_t value_bytes = precision == Precision::f32 ? sizeof(float) : sizeof(double);
  const std::uint64_t element_bytes = sizeof(VertexId) + (graph.weighted ? value_bytes : 0);
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const std::uint64_t edges = ceil_div<std::uint64_t>(graph.num_edges, ranks);
  const LabelTable& labels = graph.labels;
  MemoryPlan plan;
  plan.graph_bytes = all_max(comm, graph.row_offsets.size_bytes() + graph.col_indices.size_bytes() +
                                       graph.weights.size_bytes() + labels.integers.size_bytes() +
                                       labels.string_offsets.size_bytes() + labels.string_bytes.size_bytes());
  plan.matrix_bytes =
      scaled(checked_mul(checked_mul(edges, element_bytes), shape.num_matrices), kPaddingAllowance);
  // Tiles are cut of mapped rows where these lie.
  const bool is_at_hand = graph.mapped && graph.mapped->directions == Directions::same &&
                          shape.num_matrices == 1 && on_device != nullptr &&
                          on_device->kernel == KernelKind::tile_messages;
  const bool is_exchanged = ranks > 1 && !is_at_hand;
  plan.packing_bytes = packing_bytes(edges, graph.weighted, shape, plan.matrix_bytes, is_exchanged);
  plan.vector_bytes = vector_bytes(graph.num_vertices, ranks, value_bytes,
                                   vectors_together(shape, value_bytes, on_device), shape);
  return plan;
}

std::string memory_remedy(const MemoryShape& shape, Precision precision, const SpmvPlan* on_device) {
  std::string remedy = "more machines";
  if (precision == Precision::f64) remedy += ", --precision f32";
  if (vectors_together(shape, sizeof(double), on_device) > shape.num_vectors) remedy += ", a smaller --batch";
  if (shape.num_results > shape.num_vectors) remedy += ", fewer queries";
  return remedy + " or a smaller graph";
}

namespace {

/// Of a rank among several, at most. GPUs that write to each other's memory have two x of each matrix, or two
/// of what arrives beside x; else there are x, what is sent and what arrives. x: bytes of one, with the list
/// of where inputs go; values: of a row in it.
std::uint64_t bytes_of_exchanges(const SpmvPlan& plan, std::uint64_t num_exchanges, std::uint64_t rows,
                                 std::uint64_t num_ranks, std::uint64_t x, std::uint64_t values) {
  std::uint64_t bytes = 2 * x;
  if (plan.kernel != KernelKind::tile_messages)
    bytes += values < kLinkBytes ? checked_mul(rows, values) : checked_mul(ceil_div(rows, num_ranks), values);
  return checked_mul(bytes, num_exchanges);
}

}  // namespace

DeviceMemoryPlan plan_device_memory(const Graph& graph, const SpmvPlan& plan, const MemoryShape& shape,
                                    Precision precision, std::uint64_t num_ranks) {
  const std::uint64_t value_bytes = precision == Precision::f32 ? sizeof(float) : sizeof(double);
  const std::uint64_t rows = graph.num_vertices * (shape.is_block ? 2 : 1);
  const double matrices = shape.num_matrices, ranks = static_cast<double>(num_ranks);
  // The block form is one matrix with the elements of two.
  const DeviceWork work{
      .num_rows = static_cast<double>(rows),
      .num_columns = static_cast<double>(rows),
      .num_nonzeros = static_cast<double>(graph.num_edges) * (shape.is_block ? matrices : 1),
      .num_messages = plan.predicted_messages * (shape.is_block ? matrices : 1),
      .value_bytes = static_cast<double>(value_bytes),
      .weighted = graph.weighted};
  const std::uint64_t vectors = vectors_together(shape, value_bytes, &plan);
  const double packed = plan.kernel == KernelKind::csr
                            ? predict_device_csr_bytes(work) +
                                  device_block_bytes(work, width_of_products(shape, value_bytes, &plan))
                            : predict_messages_bytes(work);
  // Steps of walks in one go have no y, but x twice, which is no more, and so have runs of ranks. HITS has a
  // matrix's sums of columns beside each vector, and at first what they are made of; its runs, of small
  // graphs alone, have a few vectors more, which are not counted.
  const std::uint64_t of_hits = shape.num_matrices > 1 ? value_bytes : 0;
  // Of a block, a vector that has ended goes to the host by itself.
  const std::uint64_t of_results = width_of_products(shape, value_bytes, &plan) > 1 ? value_bytes : 0;
  const std::uint64_t own_row = vectors * (sizeof(double) + (shape.accelerates ? 3 : 2) * value_bytes) +
                                2 * value_bytes + of_hits + of_results;
  // Where several ranks' inputs go is listed.
  const std::uint64_t x = checked_mul(rows, value_bytes * vectors + (num_ranks > 1 ? sizeof(VertexId) : 0));
  DeviceMemoryPlan memory;
  memory.matrix_bytes = static_cast<std::uint64_t>(packed * (shape.is_block ? 1 : matrices) / ranks);
  if (shape.packs_on_device && plan.kernel == KernelKind::tile_messages)
    memory.packing_bytes =
        static_cast<std::uint64_t>(device_packing_bytes(work, packed, plan.tile_columns) / ranks);
  if (shape.packs_on_device && plan.kernel == KernelKind::csr)
    memory.packing_bytes = static_cast<std::uint64_t>(device_csr_packing_bytes(work, ranks));
  memory.vector_bytes = checked_mul(ceil_div(rows, num_ranks), own_row);
  const unsigned num_exchanges = shape.is_block ? 1 : shape.num_matrices;
  memory.exchange_bytes =
      num_ranks == 1 ? x : bytes_of_exchanges(plan, num_exchanges, rows, num_ranks, x, value_bytes * vectors);
  return memory;
}

void check_device_memory(const Graph& graph, const SpmvPlan& plan, const MemoryShape& shape,
                         Precision precision, std::uint64_t free_bytes, Communicator& comm) {
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const std::uint64_t needed = plan_device_memory(graph, plan, shape, precision, ranks).bytes();
  std::uint64_t enough = ranks;
  constexpr std::uint64_t kMostGpus = 1024;
  while (enough <= kMostGpus &&
         plan_device_memory(graph, plan, shape, precision, enough).bytes() > free_bytes)
    ++enough;
  run_together(comm, [&] {
    if (needed <= free_bytes) return;
    throw ResourceError(
        fmt::format("solving needs {} bytes on each GPU, but {} are free; {}use {}", needed, free_bytes,
                    enough <= kMostGpus ? fmt::format("{} such GPUs would do, or ", enough) : "",
                    device_memory_remedy(plan, shape, precision)));
  });
}

bool pays_to_pack_on_device(const Graph& graph, const SpmvPlan& plan, MemoryShape shape, Precision precision,
                            std::uint64_t free_bytes, Communicator& comm) {
  shape.packs_on_device = true;
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const bool has_room = plan_device_memory(graph, plan, shape, precision, ranks).bytes() <= free_bytes / 2;
  const bool all_have_room = all_true(comm, has_room);
  const bool is_packed_there = plan.kernel == KernelKind::tile_messages || plan.kernel == KernelKind::csr;
  return all_have_room && is_packed_there && graph.num_edges >= kEdgesWorthDevicePacking;
}

nlohmann::ordered_json memory_json(const DeviceMemoryPlan& plan) {
  return {{"matrix_bytes", plan.matrix_bytes},
          {"packing_bytes", plan.packing_bytes},
          {"vector_bytes", plan.vector_bytes},
          {"exchange_bytes", plan.exchange_bytes}};
}

nlohmann::ordered_json memory_json(const MemoryPlan& plan) {
  return {{"graph_bytes", plan.graph_bytes},
          {"matrix_bytes", plan.matrix_bytes},
          {"packing_bytes", plan.packing_bytes},
          {"vector_bytes", plan.vector_bytes}};
}

}  // namespace tessera::cli
