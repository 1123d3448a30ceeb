// All that a device must do. Algorithms are written against this page; the CPU child
// (kernels/cpu/cpu_backend.cpp) is always built, so every machine can run every test.
//
// S is float or double, the precision of x, of scores and of matrix values. Products are summed in double
// on every device (but pairs and fours of f32, see the forms), so y is always double. Vectors are Buffers
// from allocate(); "rows" are a rank's local rows. With num_vectors = k > 1, vectors are blocks with k
// adjacent numbers a row (row-major).
// Reductions are exact (kernels/base/exact_sum.hpp) and cover this rank's rows only.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/buffer.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/seconds_since.hpp"
#include "kernels/csr_build_input.hpp"
#include "kernels/exchange.hpp"
#include "kernels/message_bins.hpp"
#include "kernels/messages_build_input.hpp"
#include "kernels/norm_step.hpp"
#include "kernels/pair_run.hpp"
#include "kernels/rank_rule.hpp"
#include "kernels/score_key.hpp"
#include "kernels/tile_composite.hpp"
#include "kernels/tile_messages.hpp"
#include "kernels/vector_sums.hpp"

namespace tessera {

/// What the format is built for; fixed for each kind of device, so that bits do not depend on the machine.
struct TilingLimits {
  std::uint32_t tile_columns = 0;                     ///< real columns of a dense tile (at most 65,535)
  std::uint32_t warp_width = 0;                       ///< rows or elements are padded to a multiple of this
  std::uint32_t max_active_warps = 0;                 ///< workloads that run at once (paper, algorithm 3)
  std::uint32_t max_dense_tiles = ~std::uint32_t{0};  ///< where each tile has a price of its own
  BinLimits bins = {};            ///< tile-messages; for matrices below bin_nonzeros bins of half the size,
  EdgeOffset bin_nonzeros = 0;    ///< twice as many at once
  std::uint32_t value_bytes = 4;  ///< of S
  bool prefers_messages = false;  ///< tile-messages, not tile-composite, where tiling pays
  bool holds_tiles = true;        ///< false: there is no memory near the cores for these tiles, only CSR
  /// Steps of matrices of up to so many elements and rows may follow one another without the host, where
  /// these are CSR (Matrix::prepare_to_run_steps), which takes less than tiles do; rows or columns may have
  /// up to so many elements, the others half as many.
  EdgeOffset run_nonzeros = 0, run_longest_row = 0;
  std::uint64_t run_rows = 0;

  /// for_updates: of products that end in updates (Backend::end_with_update), where rows have a cost.
  BinLimits bins_for(EdgeOffset num_nonzeros, bool for_updates) const {
    BinLimits limits = bins;
    if (!for_updates) limits.row_messages = 0;
    if (num_nonzeros >= bin_nonzeros) return limits;
    limits.most_messages = std::max(limits.most_messages / 2, 1u);
    limits.at_once *= 2;
    return limits;
  }
};

/// Where a product leaves the rows: row i at entry positions[i], 0 where that is kNoVertex; row i at entry i
/// where positions is null.
struct RowPlaces {
  const Buffer<VertexId>* positions = nullptr;
  std::uint64_t num_products = 0;  ///< entries of a product, where there are positions
};

/// A part of a product and what one took, as the name says: "tiles" and "bins" (the first pass of
/// tile-messages on a device, and what the second adds), or "product".
struct PartTime {
  std::string name;
  double seconds = 0;
};

/// A matrix where the backend can multiply with it.
template <class S>
class Matrix {
 public:
  virtual ~Matrix() = default;
  virtual RowPlaces row_places() const { return {}; }
  /// y = A x. x: num_slots * k, its zero slots hold 0. y: an entry for each row, or as row_places() says, k
  /// numbers each; rows without elements may be left as they are, so y must hold 0 there.
  virtual void apply(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors) const = 0;
  /// Finds room for products of so many vectors, as apply() does where this has not been called; no exchange
  /// may be under way.
  virtual void prepare(unsigned /*num_vectors*/) const {}
  /// With how many vectors at a time products are fastest, at most: 1 where blocks gain nothing; the same on
  /// all ranks.
  virtual unsigned most_vectors() const { return ~0u; }
  /// How many vectors, so many or some more, a block of them is best made of; the same on all ranks.
  virtual unsigned block_width(unsigned num_vectors) const { return num_vectors; }
  /// Whether products of one vector may end in an update (Backend::end_with_update), so that y is never
  /// written. Finds out and prepares what that takes (2 bytes a row), once; no exchange may be under way.
  /// Ranks may differ.
  virtual bool prepare_to_end_with_updates() const { return false; }
  /// All of such a product that comes before the update; x as for apply(). Another product of this matrix
  /// that starts before it has ended takes its place.
  virtual void begin_for_update(const Buffer<S>&) const {
    throw InternalError("products of this matrix do not end in updates");
  }
  /// Whether steps of ranks and pairs may follow one another without the host (Backend::run_rank_steps,
  /// run_pair_steps). Finds out and prepares what that takes, once; no exchange may be under way.
  virtual bool prepare_to_run_steps() const { return false; }
  /// Whether those of this matrix and another, both of which may run, do so in turn
  /// (Backend::run_pair_steps).
  virtual bool runs_in_pair_with(const Matrix& /*other*/) const { return true; }
  /// Whether so many walks take a step in one go (Backend::step_walks).
  virtual bool steps_walks(unsigned /*num_vectors*/) const { return false; }
  /// apply() with one vector, timed. By the host's clock where a backend has no better.
  virtual std::vector<PartTime> time_parts(const Buffer<S>& x, Buffer<double>& y) const {
    const auto start = std::chrono::steady_clock::now();
    apply(x, y, 1);
    return {{"product", seconds_since(start)}};
  }
};

/// A number for each row of an update, 0 or above, of masses at most 1; without, all are 1. The buffer must
/// outlive the call.
template <class S>
class RowScale {
 public:
  RowScale() = default;
  /// Score * number is the next input, and rows of 0 are dangling.
  RowScale(const Buffer<S>& numbers) : numbers_(numbers.empty() ? nullptr : &numbers) {}
  /// The score is the next input, and score * number is added up (VectorSums::dangling).
  static RowScale masses(const Buffer<S>& numbers) {
    RowScale scale(numbers);
    scale.are_masses_ = scale.numbers_ != nullptr;
    return scale;
  }

  const S* numbers() const { return numbers_ == nullptr ? nullptr : numbers_->data(); }
  bool are_masses() const { return are_masses_; }
  /// What inputs are multiplied with; null: nothing.
  const Buffer<S>* of_inputs() const { return are_masses_ ? nullptr : numbers_; }

 private:
  const Buffer<S>* numbers_ = nullptr;
  bool are_masses_ = false;
};

/// What a product can end in: new = link * y + constant (PageRank; HITS, with 0), or new = link * y, and
/// `restart` more in one row (a walk; kNoVertex: in none of this rank's).
struct EndingUpdate {
  double link = 0;
  double constant = 0;
  double restart = 0;
  VertexId restart_row = kNoVertex;
};

/// With it scores go `weight` times as far as a step from where `scores` says (kernels/extrapolation.hpp);
/// changes are those of the step itself. It gets what scores were before (buffers may be swapped).
template <class S>
struct RankOrigin {
  Buffer<S>& scores;
  double weight = 1;

  /// Throws InternalError.
  void require_beside(const Buffer<S>& score) const {
    require(scores.size() == score.size() && (score.empty() || scores.data() != score.data()),
            "another vector of the scores' size");
  }
};

/// Vectors of an update with weights, at most.
inline constexpr unsigned kMostFurtherVectors = 64;

/// A step of walks: link * y for every row and vector, and `restart` more at rows restart_rows[q] of vector q
/// (kNoVertex: not on this rank). That is what is new or, with an origin, walks go weights[q] times as far
/// from there (kernels/extrapolation.hpp); changes are those of the step itself.
template <class S>
struct WalkUpdate {
  double link = 0, restart = 0;
  const Buffer<VertexId>& restart_rows;  ///< in backend memory, as many as there are vectors
  const Buffer<S>& scale;                ///< as in rank_update
  ExactScale bound;
  bool squares = false;
  std::span<const double> weights = {};  ///< with an origin, of each vector, at most kMostFurtherVectors

  unsigned num_vectors() const { return static_cast<unsigned>(restart_rows.size()); }
  /// Of the same size; both may be empty.
  static bool is_another(const Buffer<S>& one, const Buffer<S>& other) {
    return one.size() == other.size() && (one.empty() || one.data() != other.data());
  }
  /// Throws InternalError.
  void require_origin(const Buffer<S>& walk, const Buffer<S>* origin) const {
    require(
        weights.size() == (origin == nullptr ? 0 : num_vectors()) && weights.size() <= kMostFurtherVectors,
        "a weight of each walk that has an origin");
    require(origin == nullptr || is_another(*origin, walk), "walks and another block of their size");
  }
  /// Of a step in one go.
  void require_apart(const Buffer<S>& x, const Buffer<S>& before, const Buffer<S>& walk,
                     const InputTarget<S>& next, const Buffer<S>* origin) const {
    require_origin(walk, origin);
    require(is_another(before, walk) && (origin == nullptr || is_another(*origin, before)) &&
                (next.places.count == 0 || next.out->data() != x.data()) &&
                (next.places.count == 0 || origin == nullptr || next.out->data() != origin->data()),
            "a step of walks goes from some vectors to others");
  }
};

/// One of the two sides of a run of pairs (Backend::run_pair_steps).
template <class S>
struct PairSide {
  const Matrix<S>& matrix;
  const Buffer<S>& masses;  ///< of its rows (RowScale)
  InputPlaces places;       ///< those of the other side's x where its scores go
  const Buffer<S>& start;
  Buffer<S>& score;  ///< another vector
};

template <class S>
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;         ///< "cpu", "cuda"
  virtual std::string description() const = 0;  ///< e.g. "2 threads, AVX-512"
  virtual TilingLimits tiling_limits() const = 0;
  /// False when Buffers lie where the host cannot read them: then only upload and download may.
  virtual bool memory_is_host() const = 0;
  /// Whether operations may return before they are done (they are done in order, though): then more of them
  /// are worth starting before the host waits for a result.
  virtual bool is_asynchronous() const { return false; }

  /// What Buffers may still take, where that is not the host's memory (then no limit is known here).
  virtual std::uint64_t free_bytes() const { return ~std::uint64_t{0}; }
  /// Uninitialised; throws ResourceError where there is not enough (NoRoomError on a device).
  virtual std::shared_ptr<void> allocate_bytes(std::size_t num_bytes) = 0;
  template <class T>
  Buffer<T> allocate(std::size_t size) {
    auto memory = allocate_bytes(checked_mul(size, sizeof(T)));
    T* data = static_cast<T*>(memory.get());
    return Buffer<T>(std::move(memory), data, size);
  }
  /// num_bytes between the host and memory of allocate_bytes(), behind the work before.
  virtual void upload(const void* host, void* device, std::size_t num_bytes) = 0;
  virtual void download(const void* device, void* host, std::size_t num_bytes) = 0;
  /// From a form in host memory.
  virtual std::unique_ptr<Matrix<S>> make_matrix(TileComposite<S> matrix) = 0;
  /// exchange: what fills x, if it comes from make_exchange(); null else.
  virtual std::unique_ptr<Matrix<S>> make_matrix(TileMessages<S> matrix,
                                                 std::shared_ptr<Exchange<S>> exchange) = 0;
  /// Builds tile-messages itself; null where it cannot. Throws NoRoomError.
  virtual std::unique_ptr<Matrix<S>> pack_messages(const MessagesBuildInput&, std::shared_ptr<Exchange<S>>,
                                                   PackingStats&) {
    return nullptr;
  }
  virtual std::unique_ptr<Matrix<S>> make_matrix(CsrMatrix<S> matrix) = 0;
  /// Builds CSR itself; null where it cannot. Throws NoRoomError.
  virtual std::unique_ptr<Matrix<S>> pack_csr(const CsrBuildInput&, PackingStats&) { return nullptr; }

  template <class T>
  void clear(Buffer<T>& vector) {
    clear_bytes(vector.data(), vector.size_bytes());
  }
  virtual void clear_bytes(void* data, std::size_t num_bytes) = 0;  ///< to 0
  virtual void fill(Buffer<S>& vector, S value) = 0;                ///< all entries
  /// vector[i] * scale[i] goes to place i of the target; without scale (null) the factor is 1.
  virtual void put_inputs(const Buffer<S>& vector, const Buffer<S>* scale, unsigned num_vectors,
                          const InputTarget<S>& target) = 0;

  // Updates read y where `places` (of the matrix that made it) says.

  /// The step of PageRank and HITS after the product (see RankUpdate); `score` is overwritten, the next
  /// inputs (see RowScale; PageRank's are 1 / out-weight) go to `next`, if that has a place for them, as by
  /// put_inputs.
  virtual PendingSums rank_update(const RankUpdate& update, const Buffer<double>& y, const RowPlaces& places,
                                  const Buffer<S>& jump, const RowScale<S>& scale, const ExactScale& bound,
                                  bool squares, Buffer<S>& score, const InputTarget<S>& next,
                                  RankOrigin<S>* origin = nullptr) = 0;
  /// y = A x and rank_update() again and again, by a matrix that may run ranks; of the same bits, and the
  /// sums of every step that was made. From the scores `start` to `score`, another vector; places: those of x
  /// where inputs go, as of put_inputs. Scores and changes must be at most the bound.
  virtual PendingSteps run_rank_steps(const Matrix<S>& matrix, const RankRun& run, const Buffer<S>& start,
                                      const Buffer<S>& jump, const RowScale<S>& scale,
                                      const ExactScale& bound, bool squares, const InputPlaces& places,
                                      Buffer<S>& score);
  /// The same by two matrices in turn, each of which multiplies the scores of the other side: those of the
  /// second are there at first, and stay in a run of one half-step. The sums of all that were made.
  virtual PendingSteps run_pair_steps(const PairRun& run, const PairSide<S> (&sides)[2],
                                      const ExactScale& bound, bool squares);
  /// RWR: `walk` is overwritten; `next` as in rank_update. An origin gets what `walk` was before (buffers may
  /// be swapped).
  virtual PendingSums walk_update(const WalkUpdate<S>& update, const Buffer<double>& y,
                                  const RowPlaces& places, Buffer<S>& walk, const InputTarget<S>& next,
                                  Buffer<S>* origin = nullptr) = 0;
  /// y = A x and walk_update() in one go, by a matrix that steps_walks() of so many vectors; of the same
  /// bits. x, `before` and the origin, another block, are read, and none of them is `walk` or of `next`. In
  /// these, rows without elements are left as they are, but where a walk restarts, so they must hold 0 there.
  /// The matrix has no elements in rows behind those of `walk`. The next step may start before these sums are
  /// taken, but not the one after it.
  virtual PendingSums step_walks(const Matrix<S>& matrix, const WalkUpdate<S>& update, const Buffer<S>& x,
                                 const Buffer<S>& before, Buffer<S>& walk, const InputTarget<S>& next,
                                 const Buffer<S>* origin = nullptr);
  /// Ends the product that `matrix` has begun last with an update as rank_update (without jump) and
  /// walk_update make it, on rows 0 to score.size(); `scale`, `score` and `next` as there, and all of the
  /// sums. The bits are those of apply() and the update by itself.
  virtual PendingSums end_with_update(const Matrix<S>& matrix, const EndingUpdate& update,
                                      const RowScale<S>& scale, const ExactScale& bound, bool squares,
                                      Buffer<S>& score, const InputTarget<S>& next);
  /// Rows whose y is above 0 are marked: marks become 1 there and stay as they are, 1 or 0, elsewhere, and go
  /// to `next` as by put_inputs. The sums: change_l1 counts the rows that were not marked before; of masses,
  /// within the bound, as many or more (or none), total is that of these rows, and dangling of those
  /// unmarked.
  virtual PendingSums mark_rows(const Buffer<double>& y, const RowPlaces& places, const Buffer<S>& masses,
                                const ExactScale& bound, Buffer<S>& marks, const InputTarget<S>& next) = 0;
  /// The largest |y|, and the sum of y or of its squares, by `bound` as far as that covers them.
  virtual NormSums norm_sums(const Buffer<double>& y, bool squares, const ExactScale& bound) = 0;
  /// norm_sums() as `step` asks for them, then rank_update() with link = size * (1 / norm), without jump and
  /// scale; the host waits for the first only. For one rank that has all of y.
  virtual NormedUpdate normed_update(const NormStep& step, double size, const Buffer<double>& y,
                                     const RowPlaces& places, const ExactScale& bound, bool squares,
                                     Buffer<S>& score, const InputTarget<S>& next);
  /// The vectors `kept` of a block, in this order, maybe several times: out, another block, has kept.size()
  /// numbers a row.
  virtual void select_vectors(const Buffer<S>& block, unsigned num_vectors, std::span<const unsigned> kept,
                              Buffer<S>& out) = 0;
  /// The entries above 0 that are no smaller than the `count`-th largest, in any order: more than `count`
  /// where some are equal. What is no number counts as larger than all.
  /// None where that would be more than `most` of them.
  virtual std::optional<std::vector<VectorEntry<S>>> largest(const Buffer<S>& vector, std::uint64_t count,
                                                             std::uint64_t most) = 0;

  // For linear solvers; vectors of the same size. Computed in double, stored as S; the same bits on every
  // backend (kernels/dot_order.hpp).
  virtual double dot(const Buffer<S>& a, const Buffer<S>& b) = 0;
  virtual void add_scaled(double factor, const Buffer<S>& x, Buffer<S>& y) = 0;     ///< y += factor * x
  virtual void scale_and_add(const Buffer<S>& x, double factor, Buffer<S>& y) = 0;  ///< y = x + factor * y
  virtual void multiply_elements(const Buffer<S>& a, const Buffer<S>& b, Buffer<S>& out) = 0;

  // Links between the devices of all ranks, so that values can go from one to the other; engine/device_ranks
  // calls these on every rank, in this order, and brings what they give to the others. First by each other's
  // memory, where all reach that:
  /// What the others need to find this rank's memory, opaque bytes; empty where it is not for others.
  virtual std::string peer_offer(int /*rank*/, int /*num_ranks*/) { return {}; }
  /// Finds a way to what every rank offers, in the order of ranks, and leaves word there; whether there is
  /// one to each.
  virtual bool open_peers(std::span<const std::string> /*offers*/) { return false; }
  /// When every rank has opened: whether the word of each has come.
  virtual bool hears_peers() { return false; }
  /// Whether ranks are linked so from now on, which is the same on all; else these ways are given up again.
  virtual void settle_peers(bool /*are_linked*/) {}
  // Else what link_id() gives on rank 0 goes to join() on every rank; empty where devices cannot be linked.
  // Other work of a rank may go on between join() and await_links(), which every rank calls before values go.
  virtual std::string link_id() { return {}; }
  virtual void join(const std::string& id, int rank, int num_ranks);
  virtual void await_links() const {}
  virtual bool is_linked() const { return false; }  ///< in one of these ways
  /// The process is about to end, and need not undo links before, which takes NCCL half a second.
  virtual void leave_links_to_exit() const {}
  /// Null where devices are not linked: then the caller moves values through the host.
  virtual std::shared_ptr<Exchange<S>> make_exchange(ExchangePlan plan);
  /// Waits until everything above is done.
  virtual void synchronize() = 0;
  /// Seconds of each of `count` runs of `work`, which starts operations of this backend. By the host's clock
  /// where the backend has no better.
  virtual std::vector<double> time_runs(const std::function<void()>& work, int count);
};

/// name: "cpu", "cuda", or "auto": cuda where a device answers, else cpu. Throws OptionError for an unknown
/// name and ResourceError when the device is not there.
template <class S>
std::unique_ptr<Backend<S>> make_backend(const std::string& name);
/// The names that this build knows, "auto" among them.
std::vector<std::string> backend_names();

}  // namespace tessera
