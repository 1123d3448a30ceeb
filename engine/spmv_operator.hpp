// y = A x on any backend and number of ranks. Three orders of vectors exist and only this file converts
// between them: original (vertex ids), solver (slots of x, every rank has all of it), local (this rank's
// rows or inputs).
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/graph.hpp"
#include "engine/graph_stats.hpp"
#include "engine/order_choice.hpp"
#include "engine/score_order.hpp"
#include "engine/spmv_plan.hpp"
#include "engine/vertex_distribution.hpp"
#include "kernels/backend.hpp"
#include "kernels/rows_in_fours.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// Costs of one apply() on all ranks together, for reports.
struct OperatorStats {
  EdgeOffset num_nonzeros = 0;
  EdgeOffset num_stored = 0;
  std::uint64_t num_row_pieces = 0;
  std::uint64_t num_tiles = 0, num_workloads = 0;
  std::uint64_t matrix_bytes = 0;     ///< read once a product and its update
  std::uint64_t vector_bytes = 0;     ///< x read, y written; so counted also where an update ends products
  std::uint64_t exchanged_bytes = 0;  ///< received by one rank from the others, a step
  bool packed_on_device = false;      ///< by every rank
  double row_imbalance = 1, nonzero_imbalance = 1;
  double padding_ratio = 0;
};

struct OperatorOptions {
  KernelKind kernel = KernelKind::automatic;
  PerfTable table = default_perf_table();
  bool pack_on_device = false;                   ///< where the backend can
  bool may_pack_on_host = false;                 ///< then, where the device turns out to have no room
  OrderRequest order = OrderRequest::automatic;  ///< of columns and rows; of tile-messages, and of CSR of
                                                 ///< several vectors on a GPU
  unsigned num_vectors = 1;                      ///< that are multiplied at a time, mostly
  /// What plan_for_graph has said for the graph's in-edges and this backend, where it has been asked already.
  std::optional<SpmvPlan> plan = std::nullopt;
  /// Of the graph, where they have been counted already.
  std::shared_ptr<const GraphDegrees> degrees = nullptr;
  /// tile-messages is laid out for products that end in updates, where a device can do that (not of HITS with
  /// other norms than the sum); false: for products by themselves, which are up to 10 % faster then.
  bool for_updates = true;
  /// CSR is taken of one vector where that lets a device make many steps at once (prepare_to_run_steps);
  /// false: what multiplies is neither PageRank nor alternating HITS with the sum as norm.
  bool for_runs = true;
};

template <class S>
class SpmvOperator {
 public:
  /// The product with A^T of `graph` (row v: in-edges of v), its rows as they are in the graph's CSR.
  /// Square: vectors in and out have the same distribution, so y can be fed back. Collective.
  static SpmvOperator in_edges(const Graph& graph, const OperatorOptions& options, Backend<S>& backend,
                               Communicator& comm);
  /// A pair that feeds each other: first is A^T (h -> a), second A (a -> h). Collective.
  static std::pair<SpmvOperator, SpmvOperator> in_and_out_edges(const Graph& graph,
                                                                const OperatorOptions& options,
                                                                Backend<S>& backend, Communicator& comm);
  /// The block matrix [0 A^T; A 0] of order 2n (paper, equation 8): entries 0..n-1 are a, n..2n-1 are h.
  static SpmvOperator hits_block(const Graph& graph, const OperatorOptions& options, Backend<S>& backend,
                                 Communicator& comm);

  Backend<S>& backend() const { return *backend_; }
  Communicator& comm() const { return *comm_; }
  const SpmvPlan& plan() const { return plan_; }
  /// Roundings to S inside a product of so many vectors, each relative to a sum, that an element goes through
  /// at most. f32: in tile-messages of pairs of elements, of the messages, of pairs of messages; of four
  /// elements where these are added first (kernels/rows_in_fours.hpp); all else is added up in double. f64:
  /// additions in the longest row of the whole matrix. The same on all ranks.
  int product_roundings(unsigned num_vectors = 1) const {
    return adds_fours(num_vectors) ? 2 : product_roundings_;
  }
  const OperatorStats& stats() const { return stats_; }
  /// How inputs go from rank to rank: "none" (one rank), "host", or as Exchange::kind() says of the last; and
  /// the seconds it took so far (Exchange::seconds()).
  const char* exchange_kind() const;
  double exchange_seconds() const;
  std::uint64_t num_rows() const { return rows_->vertices.size(); }  ///< of the whole matrix
  std::uint64_t num_local_rows() const { return rows_->of_rank(comm_->rank()).size(); }
  /// Local rows behind these have no elements and are no inputs: links neither enter nor leave them.
  std::uint64_t num_connected_rows() const {
    return rows_->connected[static_cast<std::size_t>(comm_->rank())];
  }
  std::uint64_t num_local_inputs() const { return inputs_->of_rank(comm_->rank()).size(); }
  /// Vertex of each local row, in local order.
  std::span<const VertexId> local_rows() const { return rows_->of_rank(comm_->rank()); }

  /// x (solver order) and y (local order, or as row_places() says) for k vectors, zero. make_y finds room for
  /// products of as many, too; no exchange may be under way. From device to device x comes with each exchange
  /// (Exchange::start), and is empty before.
  Buffer<S> make_x(unsigned num_vectors = 1) const;
  Buffer<double> make_y(unsigned num_vectors = 1) const;
  /// x[slot] = local * scale for the inputs of all ranks (scale may be null); collective.
  /// local: this rank's inputs in local order, k numbers each. x is for start() and apply(), or for any work
  /// after wait_for_inputs().
  void replicate(const Buffer<S>& local, const Buffer<S>* scale, Buffer<S>& x, unsigned num_vectors = 1);
  /// Where products leave this rank's rows.
  RowPlaces row_places() const { return matrix_->row_places(); }
  /// y = A x for this rank's rows; y comes from make_y, and nothing else writes to it.
  void apply(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors = 1);

  // The same in parts, for loops that let a device work ahead. replicate() is: fill input_target(), send().
  // apply() is: start(), wait_for_inputs().

  /// Where this rank's inputs go, to be sent once or, on one rank, into x. Collective.
  InputTarget<S> input_target(Buffer<S>& x, unsigned num_vectors = 1);
  /// From device to device x becomes the exchange's. Collective.
  void send(Buffer<S>& x, unsigned num_vectors = 1);
  /// May return before y is there; later work of the backend finds it. Before the host waits for such work,
  /// it must wait_for_inputs(), which finds out when a rank is gone.
  void start(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors = 1);
  void wait_for_inputs();
  /// Where a device can, a product of one vector may also end in the update of what it is for, and no y is
  /// needed: begin_for_update() stands for start() then, end_with_update() for the backend's update
  /// (Backend::end_with_update).
  bool prepare_to_end_with_updates() const { return matrix_->prepare_to_end_with_updates(); }
  void begin_for_update(const Buffer<S>& x) { matrix_->begin_for_update(x); }
  PendingSums end_with_update(const EndingUpdate& update, const RowScale<S>& scale, const ExactScale& bound,
                              bool squares, Buffer<S>& score, const InputTarget<S>& next) {
    return backend_->end_with_update(*matrix_, update, scale, bound, squares, score, next);
  }
  /// On one rank, where a device can, steps of ranks, or of pairs if both operators can and run in pair,
  /// follow one another without the host (Backend::run_rank_steps, run_pair_steps), and neither x nor y is
  /// needed.
  bool prepare_to_run_steps() const {
    return comm_->size() == 1 && works_ahead() && matrix_->prepare_to_run_steps();
  }
  bool runs_in_pair_with(const SpmvOperator& other) const {
    return matrix_->runs_in_pair_with(*other.matrix_);
  }
  PendingSteps run_rank_steps(const RankRun& run, const Buffer<S>& start, const Buffer<S>& jump,
                              const RowScale<S>& scale, const ExactScale& bound, bool squares,
                              Buffer<S>& score) {
    return backend_->run_rank_steps(*matrix_, run, start, jump, scale, bound, squares, own_places_, score);
  }
  /// This operator's rows as a side of a pair whose other one is `other`.
  PairSide<S> side_of_pair(const SpmvOperator& other, const Buffer<S>& masses, const Buffer<S>& start,
                           Buffer<S>& score) const {
    return {*matrix_, masses, other.own_places_, start, score};
  }
  /// On one rank, where a device can, a block of walks takes a step in one go (Backend::step_walks), and no y
  /// is needed: x is read, the next inputs go to next_x.
  bool steps_walks(unsigned num_vectors) const {
    return comm_->size() == 1 && matrix_->steps_walks(num_vectors);
  }
  PendingSums step_walks(const WalkUpdate<S>& update, const Buffer<S>& x, const Buffer<S>& before,
                         Buffer<S>& walk, Buffer<S>& next_x, const Buffer<S>* origin = nullptr) {
    return backend_->step_walks(*matrix_, update, x, before, walk, input_target(next_x, update.num_vectors()),
                                origin);
  }
  /// With how many vectors at a time products are fastest, at most; the same on all ranks.
  unsigned most_vectors() const { return matrix_->most_vectors(); }
  /// How many vectors, so many or some more, a block of them is best made of; the same on all ranks.
  unsigned block_width(unsigned num_vectors) const { return matrix_->block_width(num_vectors); }
  /// The same for what is left of a block that was `width` vectors wide: what is added up in fours stays so,
  /// so that results do not change with who else has ended.
  unsigned block_width(unsigned num_vectors, unsigned width) const {
    const unsigned narrow = block_width(num_vectors);
    return adds_fours(width) ? std::max(narrow, block_width(kFewVectors + 1)) : narrow;
  }
  /// Whether a product started before it is needed runs while the host does other things.
  bool works_ahead() const;

  /// Medians over `repeats` products of a made-up vector, after one that is not counted. One rank only.
  std::vector<PartTime> time_parts(int repeats) const;

  /// This rank's rows of a vector in original order (size num_rows), as backend memory; T: double or S.
  template <class T>
  Buffer<S> to_local(std::span<const T> original) const;
  Buffer<S> to_local(const std::vector<double>& original) const {
    return to_local(std::span<const double>(original));
  }
  /// This rank's first `num_local_rows` rows of a vector that is `value` everywhere, as backend memory.
  Buffer<S> local_constant(S value, std::uint64_t num_local_rows) const;
  /// All rows of vector q of a local block, in original order, the same on every rank; collective. Last rows
  /// that `local` leaves out are `rest`.
  std::vector<double> to_original(const Buffer<S>& local, unsigned num_vectors = 1, unsigned q = 0,
                                  S rest = 0) const;
  /// The best `count` rows of such a vector, or all, the same on every rank; collective. Scores are at least
  /// 0: below they count as that, as do rows that `local` leaves out. Throws InternalError for a score that
  /// is not finite.
  BestScores best(const Buffer<S>& local, std::uint64_t count, unsigned num_vectors = 1,
                  unsigned q = 0) const;
  /// The numbers of these rows, each of which is named once, in such a vector; 0 where `local` leaves a row
  /// out. The same on every rank; collective. Throws InternalError for other rows.
  std::vector<double> values_of(const Buffer<S>& local, std::span<const VertexId> rows) const;
  /// Local index of `row`, or kNoVertex when another rank has it.
  VertexId local_index(VertexId row) const;

 private:
  /// Whether products of so many vectors add up four elements in f32 first (kernels/rows_in_fours.hpp).
  bool adds_fours(unsigned num_vectors) const {
    return plan_.kernel == KernelKind::csr && !backend_->memory_is_host() &&
           adds_in_fours(num_vectors, sizeof(S));
  }
  SpmvOperator() = default;
  /// Those of this rank that may be among the best; none where they are more than `most`.
  std::optional<std::vector<ScoredVertex>> local_best(const Buffer<S>& local, std::uint64_t count,
                                                      std::uint64_t most, unsigned num_vectors,
                                                      unsigned q) const;
  /// Vector q of a block.
  Buffer<S> selected(const Buffer<S>& block, unsigned num_vectors, unsigned q) const;
  /// all = send_ of all ranks.
  void gather_through_host(std::uint64_t num_sent, Buffer<S>& all);
  void send_through_host(Buffer<S>& x, unsigned num_vectors);
  Backend<S>* backend_ = nullptr;
  Communicator* comm_ = nullptr;
  SpmvPlan plan_;
  OperatorStats stats_;
  int product_roundings_ = 0;  // of one vector
  std::shared_ptr<const VertexDistribution> rows_, inputs_;
  std::uint64_t x_size_ = 0;  // for one vector
  InputPlaces own_places_;    // of one rank's inputs in x
  // Several ranks only: how inputs travel, from device to device or, without a link, through the host.
  Buffer<VertexId>
      input_slots_;  // of all inputs as they arrive; empty when they arrive as x (backend memory)
  Buffer<VertexId> send_positions_;  // of this rank's inputs in what it sends; empty: in order
  ExchangePlan exchange_plan_;
  std::shared_ptr<Exchange<S>> exchange_;
  double host_exchange_seconds_ = 0;
  Buffer<S> send_, received_;  // packed inputs, grown to the largest k used
  std::unique_ptr<Matrix<S>> matrix_;

  template <class T>
  friend struct OperatorBuilder;
};

}  // namespace tessera
