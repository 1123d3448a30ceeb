// A group of made-up devices: the CPU backend of every rank, "linked" as GPUs are, so that the path from
// device to device is tested without any. The exchange is that of kernels/cuda/nccl_exchange where it
// gathers, in host memory; that devices write to each other's x is not made up here.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/base/error.hpp"
#include "partition/communicator.hpp"
#include "tests/support/step_sums.hpp"

namespace tessera::test {

/// As a GPU's, but with tiles so small that these graphs have several.
inline constexpr TilingLimits kSmallTiles{.tile_columns = 50,
                                          .warp_width = 32,
                                          .max_active_warps = 64,
                                          .max_dense_tiles = 12,
                                          .bins = {.most_messages = 100},
                                          .prefers_messages = true};

template <class S>
class LinkedExchange : public Exchange<S> {
 public:
  /// has_awaited: whether values may go yet.
  LinkedExchange(Backend<S>& backend, Communicator& comm, ExchangePlan plan, const bool& has_awaited)
      : backend_(backend), comm_(comm), plan_(std::move(plan)), has_awaited_(has_awaited) {
    positions_ = buffer(plan_.positions);
    slots_ = buffer(plan_.slots);
  }

  InputTarget<S> inputs(unsigned num_vectors) override {
    mine_ = backend_.template allocate<S>(plan_.count * num_vectors);
    backend_.clear(mine_);
    return {&mine_,
            {.count = plan_.num_mine, .listed = plan_.positions.empty() ? nullptr : positions_.data()}};
  }
  /// As late as can be: x holds no numbers until someone waits for it. Nor does the last one any more.
  Buffer<S> start(unsigned num_vectors) override {
    require(has_awaited_, "links are awaited before values go");
    finish();
    last_x_ = std::move(x_);
    x_ = backend_.template allocate<S>(plan_.x_size * num_vectors);
    for (Buffer<S>* x : {&last_x_, &x_}) std::fill(x->begin(), x->end(), std::numeric_limits<S>::quiet_NaN());
    is_under_way_ = true;
    num_vectors_ = num_vectors;
    return unowned(x_);
  }
  void finish() override {
    if (!std::exchange(is_under_way_, false)) return;
    Buffer<S> all = backend_.template allocate<S>(plan_.num_received() * num_vectors_);
    const auto ranks = static_cast<std::size_t>(plan_.num_ranks);
    for (std::size_t c = 0; c < plan_.chunk_ends.size(); ++c) {
      const std::uint64_t begin = plan_.begin_of(c) * num_vectors_, end = plan_.chunk_ends[c] * num_vectors_;
      const std::vector<std::uint64_t> counts(ranks, end - begin);
      all_gather<S>(comm_, mine_.span().subspan(begin, end - begin),
                    all.span().subspan(begin * ranks, (end - begin) * ranks), counts);
    }
    if (plan_.slots.empty()) {
      std::copy(all.begin(), all.end(), x_.begin());
    } else {
      backend_.clear(x_);
      backend_.put_inputs(all, nullptr, num_vectors_, {&x_, InputPlaces::listed_in(slots_)});
    }
    ++count_;
  }
  /// One for each exchange, so that tests see that there were any.
  double seconds() override {
    finish();
    return count_;
  }

 private:
  Buffer<VertexId> buffer(const std::vector<VertexId>& host) {
    Buffer<VertexId> result = backend_.template allocate<VertexId>(host.size());
    std::copy(host.begin(), host.end(), result.begin());
    return result;
  }
  Backend<S>& backend_;
  Communicator& comm_;
  ExchangePlan plan_;
  const bool& has_awaited_;
  Buffer<VertexId> positions_, slots_;
  Buffer<S> mine_, last_x_, x_;
  bool is_under_way_ = false;
  unsigned num_vectors_ = 1;
  double count_ = 0;
};

/// The rows of a product, in their order.
inline Buffer<double> in_row_order(const Buffer<double>& y, const RowPlaces& places, std::uint64_t num_rows,
                                   unsigned num_vectors) {
  Buffer<double> rows(num_rows * num_vectors);
  for (std::uint64_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t row = i / num_vectors;
    const std::uint64_t place = places.positions == nullptr ? row : (*places.positions)[row];
    rows[i] = place == kNoVertex ? 0.0 : y[place * num_vectors + i % num_vectors];
  }
  return rows;
}

/// A product that waits for its inputs and, with positions, leaves its rows where they say, as on a device,
/// and may end in an update.
template <class S>
class LinkedMatrix : public Matrix<S> {
 public:
  LinkedMatrix(std::unique_ptr<Matrix<S>> matrix, std::shared_ptr<Exchange<S>> exchange)
      : matrix_(std::move(matrix)), exchange_(std::move(exchange)) {}
  LinkedMatrix(std::unique_ptr<Matrix<S>> matrix, std::shared_ptr<Exchange<S>> exchange,
               Buffer<VertexId> positions, std::uint64_t num_products)
      : LinkedMatrix(std::move(matrix), std::move(exchange)) {
    mixes_rows_ = true;
    positions_ = std::move(positions);
    num_products_ = num_products;
  }
  RowPlaces row_places() const override {
    return mixes_rows_ ? RowPlaces{&positions_, num_products_} : RowPlaces{};
  }
  void apply(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors) const override {
    if (exchange_ != nullptr) exchange_->finish();
    if (!mixes_rows_) return matrix_->apply(x, y, num_vectors);
    Buffer<double> rows(positions_.size() * num_vectors);
    std::fill(rows.begin(), rows.end(), 0.0);
    matrix_->apply(x, rows, num_vectors);
    for (std::uint64_t i = 0; i < rows.size(); ++i)
      if (const VertexId place = positions_[i / num_vectors]; place != kNoVertex)
        y[std::uint64_t{place} * num_vectors + i % num_vectors] = rows[i];
  }
  unsigned most_vectors() const override { return mixes_rows_ ? 1 : ~0u; }
  unsigned block_width(unsigned num_vectors) const override {
    return num_vectors < 2 ? num_vectors : round_up(num_vectors, 4u);
  }
  bool prepare_to_run_steps() const override { return runs_steps; }
  bool runs_in_pair_with(const Matrix<S>&) const override { return runs_pairs; }
  bool steps_walks(unsigned num_vectors) const override { return takes_steps && num_vectors > 1; }
  bool prepare_to_end_with_updates() const override { return mixes_rows_ && ends_with_updates; }
  void begin_for_update(const Buffer<S>& x) const override {
    begun_ = Buffer<double>(num_products_);
    std::fill(begun_.begin(), begun_.end(), std::numeric_limits<double>::quiet_NaN());
    apply(x, begun_, 1);
  }
  const Buffer<double>& begun() const { return begun_; }

  bool ends_with_updates = true;
  bool takes_steps = false;  ///< in one go
  bool runs_steps = false;
  bool runs_pairs = true;
  std::uint64_t num_rows = 0, num_slots = 0;

 private:
  std::unique_ptr<Matrix<S>> matrix_;
  std::shared_ptr<Exchange<S>> exchange_;
  bool mixes_rows_ = false;
  Buffer<VertexId> positions_;
  std::uint64_t num_products_ = 0;
  mutable Buffer<double> begun_;
};

template <class S>
class LinkedBackend : public Backend<S> {
 public:
  LinkedBackend(Communicator& comm, TilingLimits limits)
      : cpu_(make_backend<S>("cpu")), comm_(comm), limits_(limits) {}

  std::string link_id() override { return "id of rank " + std::to_string(comm_.rank()); }
  void join(const std::string& id, int rank, int num_ranks) override {
    joined_ = id + ", " + std::to_string(rank) + " of " + std::to_string(num_ranks);
  }
  void await_links() const override { has_awaited_ = true; }
  const std::string& joined() const { return joined_; }
  bool has_awaited() const { return has_awaited_; }
  bool is_linked() const override { return !joined_.empty(); }
  std::shared_ptr<Exchange<S>> make_exchange(ExchangePlan plan) override {
    if (!is_linked()) return nullptr;
    latest_ = std::make_shared<LinkedExchange<S>>(*cpu_, comm_, std::move(plan), has_awaited_);
    return latest_;
  }

  std::string name() const override { return "linked"; }
  std::string description() const override { return cpu_->description(); }
  TilingLimits tiling_limits() const override { return limits_; }
  bool memory_is_host() const override { return true; }
  bool is_asynchronous() const override { return true; }
  std::shared_ptr<void> allocate_bytes(std::size_t size) override { return cpu_->allocate_bytes(size); }
  void upload(const void* host, void* device, std::size_t size) override { cpu_->upload(host, device, size); }
  void download(const void* device, void* host, std::size_t size) override {
    cpu_->download(device, host, size);
  }
  std::unique_ptr<Matrix<S>> make_matrix(TileComposite<S> m) override {
    return with_latest(cpu_->make_matrix(std::move(m)));
  }
  std::unique_ptr<Matrix<S>> make_matrix(TileMessages<S> m, std::shared_ptr<Exchange<S>> exchange) override {
    if (!mixes_rows())
      return std::make_unique<LinkedMatrix<S>>(cpu_->make_matrix(std::move(m), nullptr), std::move(exchange));
    Buffer<VertexId> positions = m.row_positions.clone();
    const std::uint64_t num_products = m.num_products;
    auto matrix = std::make_unique<LinkedMatrix<S>>(cpu_->make_matrix(std::move(m), nullptr),
                                                    std::move(exchange), std::move(positions), num_products);
    matrix->ends_with_updates = ends_with_updates;
    return matrix;
  }
  std::unique_ptr<Matrix<S>> make_matrix(CsrMatrix<S> m) override {
    const std::uint64_t num_rows = m.num_rows, num_slots = m.num_slots;
    auto matrix = with_latest(cpu_->make_matrix(std::move(m)));
    matrix->takes_steps = takes_steps;
    matrix->runs_steps = runs_steps;
    matrix->runs_pairs = runs_pairs;
    matrix->num_rows = num_rows;
    matrix->num_slots = num_slots;
    return matrix;
  }
  void clear_bytes(void* data, std::size_t num_bytes) override { cpu_->clear_bytes(data, num_bytes); }
  void fill(Buffer<S>& vector, S value) override { cpu_->fill(vector, value); }
  void put_inputs(const Buffer<S>& vector, const Buffer<S>* scale, unsigned k,
                  const InputTarget<S>& target) override {
    cpu_->put_inputs(vector, scale, k, target);
  }
  PendingSums rank_update(const RankUpdate& update, const Buffer<double>& y, const RowPlaces& places,
                          const Buffer<S>& jump, const RowScale<S>& scale, const ExactScale& bound,
                          bool squares, Buffer<S>& score, const InputTarget<S>& next,
                          RankOrigin<S>* origin) override {
    const Buffer<double> rows = in_row_order(y, places, score.size(), 1);
    num_further += origin != nullptr;
    return cpu_->rank_update(update, rows, {}, jump, scale, bound, squares, score, next, origin);
  }
  PendingSums mark_rows(const Buffer<double>& y, const RowPlaces& places, const Buffer<S>& masses,
                        const ExactScale& bound, Buffer<S>& marks, const InputTarget<S>& next) override {
    return cpu_->mark_rows(in_row_order(y, places, marks.size(), 1), {}, masses, bound, marks, next);
  }
  PendingSteps run_rank_steps(const Matrix<S>& matrix, const RankRun& run, const Buffer<S>& start,
                              const Buffer<S>& jump, const RowScale<S>& scale, const ExactScale& bound,
                              bool squares, const InputPlaces& places, Buffer<S>& score) override {
    EXPECT_LE(run.most_steps, RankRun::kMostSteps);
    EXPECT_NE(start.data(), score.data());
    ++num_runs;
    const auto& linked = dynamic_cast<const LinkedMatrix<S>&>(matrix);
    std::copy(start.begin(), start.end(), score.begin());
    Buffer<S> x(linked.num_slots);
    clear_bytes(x.data(), x.size_bytes());
    const InputTarget<S> target{&x, places};
    put_inputs(score, scale.of_inputs(), 1, target);
    std::vector<VectorSums> sums;
    for (RankUpdate update = run.first;;) {
      Buffer<double> y(linked.num_rows);
      std::fill(y.begin(), y.end(), 0.0);
      matrix.apply(x, y, 1);
      sums.push_back(
          rank_update(update, y, {}, jump, scale, bound, squares, score, target, nullptr).take().front());
      const VectorSums& last = sums.back();
      ++num_run_steps;
      if (run.ends_after(static_cast<unsigned>(sums.size()),
                         change_in(run.norm, last.change_l1, last.change_squares, last.change_max, bound)))
        return pending(std::move(sums));
      update = run.rule.template update_after<S>(update, last.total, last.dangling, bound);
    }
  }
  PendingSteps run_pair_steps(const PairRun& run, const PairSide<S> (&sides)[2], const ExactScale& bound,
                              bool squares) override {
    EXPECT_LE(run.most_steps, PairRun::kMostSteps);
    EXPECT_GE(run.first_norm, run.norms[0].least);
    ++num_runs;
    Buffer<S> x[2];
    for (int i = 0; i < 2; ++i) {
      EXPECT_NE(sides[i].start.data(), sides[i].score.data());
      std::copy(sides[i].start.begin(), sides[i].start.end(), sides[i].score.begin());
      x[i] = Buffer<S>(dynamic_cast<const LinkedMatrix<S>&>(sides[i].matrix).num_slots);
      clear_bytes(x[i].data(), x[i].size_bytes());
    }
    const auto target = [&](int i) { return InputTarget<S>{&x[1 - i], sides[i].places}; };
    put_inputs(sides[1].score, nullptr, 1, target(1));
    std::vector<VectorSums> sums;
    double change = 0, norm = run.first_norm;
    for (bool over = false; !over;) {
      const int i = static_cast<int>(sums.size() % 2);
      Buffer<double> y(dynamic_cast<const LinkedMatrix<S>&>(sides[i].matrix).num_rows);
      std::fill(y.begin(), y.end(), 0.0);
      sides[i].matrix.apply(x[i], y, 1);
      sums.push_back(rank_update(PairRun::update_by(norm), y, {}, {}, RowScale<S>::masses(sides[i].masses),
                                 bound, squares, sides[i].score, target(i), nullptr)
                         .take()
                         .front());
      ++num_run_steps;
      const VectorSums& last = sums.back();
      const auto count = static_cast<unsigned>(sums.size());
      const double before = std::exchange(
          change, change_in(run.norm, last.change_l1, last.change_squares, last.change_max, bound));
      norm = run.norm_after(count, last.dangling, bound);
      over = run.ends_after(count, change, before, norm) || static_cast<int>(count) >= most_half_steps;
    }
    return pending(std::move(sums));
  }
  PendingSums walk_update(const WalkUpdate<S>& update, const Buffer<double>& y, const RowPlaces& places,
                          Buffer<S>& walk, const InputTarget<S>& next, Buffer<S>* origin) override {
    num_further += origin != nullptr;
    const unsigned k = update.num_vectors();
    return cpu_->walk_update(update, in_row_order(y, places, walk.size() / k, k), {}, walk, next, origin);
  }
  PendingSums step_walks(const Matrix<S>& matrix, const WalkUpdate<S>& update, const Buffer<S>& x,
                         const Buffer<S>& before, Buffer<S>& walk, const InputTarget<S>& next,
                         const Buffer<S>* origin) override {
    update.require_apart(x, before, walk, next, origin);
    ++num_stepped;
    num_further += origin != nullptr;
    const unsigned k = update.num_vectors();
    const std::uint64_t num_rows = before.size() / k;
    Buffer<double> y(dynamic_cast<const LinkedMatrix<S>&>(matrix).num_rows * k);
    std::fill(y.begin(), y.end(), 0.0);
    matrix.apply(x, y, k);
    Buffer<S> stepped = before.clone(), inputs(next.out->size()), from;
    if (origin != nullptr) from = origin->clone();
    std::fill(inputs.begin(), inputs.end(), S{0});
    PendingSums sums = cpu_->walk_update(update, y, {}, stepped, {&inputs, next.places},
                                         origin == nullptr ? nullptr : &from);
    // Rows that hold 0 now and then are as rows without elements: they stay as they are.
    for (std::uint64_t i = 0; i < num_rows * k; ++i)
      if (stepped[i] != S{0} || before[i] != S{0} || (origin != nullptr && (*origin)[i] != S{0}))
        walk[i] = stepped[i];
    for (std::uint64_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] != S{0} || x[i] != S{0}) (*next.out)[i] = inputs[i];
    return sums;
  }
  PendingSums end_with_update(const Matrix<S>& matrix, const EndingUpdate& update, const RowScale<S>& scale,
                              const ExactScale& bound, bool squares, Buffer<S>& score,
                              const InputTarget<S>& next) override {
    ++num_ended;
    const auto& product = dynamic_cast<const LinkedMatrix<S>&>(matrix);
    Buffer<S> restart(score.size());
    std::fill(restart.begin(), restart.end(), S{0});
    if (update.restart_row != kNoVertex) restart[update.restart_row] = S{1};
    return rank_update({.link = update.link, .teleport = update.restart, .constant = update.constant},
                       product.begun(), product.row_places(), restart, scale, bound, squares, score, next,
                       nullptr);
  }
  NormSums norm_sums(const Buffer<double>& y, bool squares, const ExactScale& bound) override {
    ++num_norms;
    return cpu_->norm_sums(y, squares, bound);
  }
  NormedUpdate normed_update(const NormStep& step, double size, const Buffer<double>& y,
                             const RowPlaces& places, const ExactScale& bound, bool squares, Buffer<S>& score,
                             const InputTarget<S>& next) override {
    ++num_normed;
    return Backend<S>::normed_update(step, size, y, places, bound, squares, score, next);
  }
  void select_vectors(const Buffer<S>& block, unsigned k, std::span<const unsigned> kept,
                      Buffer<S>& out) override {
    cpu_->select_vectors(block, k, kept, out);
  }
  std::optional<std::vector<VectorEntry<S>>> largest(const Buffer<S>& vector, std::uint64_t count,
                                                     std::uint64_t most) override {
    return cpu_->largest(vector, count, most);
  }
  double dot(const Buffer<S>& a, const Buffer<S>& b) override { return cpu_->dot(a, b); }
  void add_scaled(double factor, const Buffer<S>& x, Buffer<S>& y) override {
    cpu_->add_scaled(factor, x, y);
  }
  void scale_and_add(const Buffer<S>& x, double f, Buffer<S>& y) override { cpu_->scale_and_add(x, f, y); }
  void multiply_elements(const Buffer<S>& a, const Buffer<S>& b, Buffer<S>& out) override {
    cpu_->multiply_elements(a, b, out);
  }
  void synchronize() override { cpu_->synchronize(); }

  bool ends_with_updates = true;              ///< products of tile-messages can, which are made from now on
  bool takes_steps = true;                    ///< CSR does in one go, made from now on
  bool runs_steps = true;                     ///< the same
  bool runs_pairs = true;                     ///< of CSR that runs by itself
  int most_half_steps = PairRun::kMostSteps;  ///< of a run of pairs, as if a norm were small behind it
  int num_stepped = 0;                        ///< steps in one go
  int num_ended = 0;                          ///< products
  int num_runs = 0, num_run_steps = 0;        ///< of ranks or pairs, and their steps or half-steps
  int num_further = 0;                        ///< updates with an origin
  int num_norms = 0;                          ///< looks at a product for its norm
  int num_normed = 0;                         ///< updates that divide by the norm themselves

 protected:
  /// Whether products of tile-messages lie in the order of their slices.
  virtual bool mixes_rows() const { return true; }

 private:
  /// An operator makes its exchange before its matrix.
  std::unique_ptr<LinkedMatrix<S>> with_latest(std::unique_ptr<Matrix<S>> matrix) const {
    return std::make_unique<LinkedMatrix<S>>(std::move(matrix), latest_);
  }

  std::unique_ptr<Backend<S>> cpu_;
  std::shared_ptr<Exchange<S>> latest_;
  Communicator& comm_;
  TilingLimits limits_;
  std::string joined_;
  mutable bool has_awaited_ = false;
};

}  // namespace tessera::test
