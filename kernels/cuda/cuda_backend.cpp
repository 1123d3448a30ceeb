// One line an operation, as kernels/cpu/cpu_backend.cpp. Everything runs on the default stream, in order.
#include "kernels/cuda/cuda_backend.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/csr_build.hpp"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_csr.hpp"
#include "kernels/cuda/cuda_devices.hpp"
#include "kernels/cuda/cuda_end_update.hpp"
#include "kernels/cuda/cuda_largest.hpp"
#include "kernels/cuda/cuda_linear_ops.hpp"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/cuda_step_runs.hpp"
#include "kernels/cuda/cuda_tile_messages.hpp"
#include "kernels/cuda/cuda_vector_ops.hpp"
#include "kernels/cuda/device_links.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/device_stopwatch.hpp"
#include "kernels/cuda/device_sums.hpp"
#include "kernels/cuda/messages_build.hpp"
#include "kernels/cuda/one_part_matrix.hpp"

namespace tessera {
namespace {

using cuda::allocate_device;
using cuda::on_device;

template <class S>
class CudaTileComposite : public cuda::OnePartMatrix<S> {
 public:
  explicit CudaTileComposite(TileComposite<S> host) {
    cuda::TileSchedule schedule =
        cuda::schedule_tiles(host.tiles.data(), host.tiles.size(), host.workloads.data());
    host_tiles_ = std::move(schedule.tiles);
    units_ = on_device(std::span<const cuda::WarpUnit>(schedule.units));
    device_.num_rows = host.num_rows;
    device_.num_slots = host.num_slots;
    device_.tiles = on_device(host.tiles);
    device_.workloads = on_device(host.workloads);
    device_.row_ids = on_device(host.row_ids);
    device_.offsets16 = on_device(host.offsets16);
    device_.offsets32 = on_device(host.offsets32);
    device_.values16 = on_device(host.values16);
    device_.values32 = on_device(host.values32);
  }
  void apply(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors) const override {
    require(x.size() >= device_.num_slots * num_vectors, "x is shorter than the matrix is wide");
    require(y.size() >= device_.num_rows * num_vectors, "y is shorter than the matrix is high");
    cuda::spmv(device_.view(), host_tiles_.data(), units_.data(), x.data(), y.data(), num_vectors);
  }

 private:
  std::vector<cuda::HostTile> host_tiles_;
  Buffer<cuda::WarpUnit> units_;
  TileComposite<S> device_;
};

template <class S>
class CudaBackend : public Backend<S> {
 public:
  CudaBackend() {
    int device = 0;
    TESSERA_CUDA_CALL(cudaGetDevice(&device));
    TESSERA_CUDA_CALL(cudaGetDeviceProperties(&properties_, device));
    cuda::keep_pool();  // arrays come and go
  }
  std::string name() const override { return "cuda"; }
  std::string description() const override {
    return std::string(properties_.name) + ", " + std::to_string(properties_.multiProcessorCount) +
           " multiprocessors, " + std::to_string(properties_.totalGlobalMem >> 20) + " MiB";
  }
  TilingLimits tiling_limits() const override {
    const auto run_blocks =
        std::min(static_cast<unsigned>(properties_.multiProcessorCount), cuda::kMostRunBlocks);
    // Fixed for all devices that hold them, so that results do not depend on the device; bins change none.
    return {.tile_columns = cuda::window_elements<S>(),
            .warp_width = 32,
            .max_active_warps = 4096,
            .max_dense_tiles = 12,
            .bins = {.most_messages = cuda::window_elements<S>(),
                     .at_once = static_cast<std::uint32_t>(properties_.multiProcessorCount),
                     .least_messages = 512,
                     .row_messages = 4},  // with 2 and 7 a step took as long or 1.5 % longer
            .bin_nonzeros = std::uint64_t{1} << 27,
            .value_bytes = sizeof(S),
            .prefers_messages = true,
            .holds_tiles = properties_.sharedMemPerBlockOptin >= cuda::kWindowBlockBytes,
            // Measured on 132 multiprocessors, and what one of them has room for (run_windows.hpp).
            .run_nonzeros = (EdgeOffset{1} << 23) / sizeof(S) * run_blocks / 132,
            .run_longest_row = 96000 / sizeof(S),
            .run_rows = (std::uint64_t{1} << 19) * run_blocks / 132};
  }
  bool memory_is_host() const override { return false; }
  bool is_asynchronous() const override { return true; }
  std::uint64_t free_bytes() const override { return cuda::free_device_bytes(); }

  std::shared_ptr<void> allocate_bytes(std::size_t num_bytes) override { return allocate_device(num_bytes); }
  void upload(const void* host, void* device, std::size_t num_bytes) override {
    if (num_bytes != 0) TESSERA_CUDA_CALL(cudaMemcpy(device, host, num_bytes, cudaMemcpyHostToDevice));
  }
  void download(const void* device, void* host, std::size_t num_bytes) override {
    if (num_bytes != 0) TESSERA_CUDA_CALL(cudaMemcpy(host, device, num_bytes, cudaMemcpyDeviceToHost));
  }
  std::unique_ptr<Matrix<S>> make_matrix(TileComposite<S> matrix) override {
    return std::make_unique<CudaTileComposite<S>>(std::move(matrix));
  }
  std::unique_ptr<Matrix<S>> make_matrix(TileMessages<S> matrix,
                                         std::shared_ptr<Exchange<S>> exchange) override {
    return cuda::make_tile_messages(cuda::on_device(matrix), num_multiprocessors(), std::move(exchange));
  }
  std::unique_ptr<Matrix<S>> pack_messages(const MessagesBuildInput& input,
                                           std::shared_ptr<Exchange<S>> exchange,
                                           PackingStats& stats) override {
    TileMessages<S> matrix = built([&] { return cuda::build_messages_on_device<S>(input); });
    stats = matrix.stats;
    return cuda::make_tile_messages(std::move(matrix), num_multiprocessors(), std::move(exchange));
  }
  std::unique_ptr<Matrix<S>> make_matrix(CsrMatrix<S> matrix) override {
    return cuda::make_csr(std::move(matrix), num_multiprocessors());
  }
  std::unique_ptr<Matrix<S>> pack_csr(const CsrBuildInput& input, PackingStats& stats) override {
    CsrMatrix<S> matrix = built([&] { return cuda::build_csr_on_device<S>(input); });
    stats = matrix.stats;
    return cuda::make_built_csr(std::move(matrix), num_multiprocessors());
  }

  void clear_bytes(void* data, std::size_t num_bytes) override {
    if (num_bytes != 0) TESSERA_CUDA_CALL(cudaMemsetAsync(data, 0, num_bytes));
  }
  void fill(Buffer<S>& vector, S value) override { cuda::fill(vector.data(), vector.size(), value); }
  void put_inputs(const Buffer<S>& vector, const Buffer<S>* scale, unsigned num_vectors,
                  const InputTarget<S>& target) override {
    cuda::put_inputs<S>(vector.data(), data_or_null(scale), target.places, num_vectors, target.out->data(),
                        other_ranks(target));
  }
  PendingSums rank_update(const RankUpdate& update, const Buffer<double>& y, const RowPlaces& places,
                          const Buffer<S>& jump, const RowScale<S>& scale, const ExactScale& bound,
                          bool squares, Buffer<S>& score, const InputTarget<S>& next,
                          RankOrigin<S>* origin) override {
    if (origin != nullptr) origin->require_beside(score);
    cuda::RankVectors<S> vectors =
        rank_vectors({y.data(), data_or_null(places.positions)}, jump, scale, score, next);
    cuda::OriginView<S> from;
    if (origin != nullptr) {
      score.swap(origin->scores);
      vectors.score = score.data();
      from = {score.data(), origin->weight};
    }
    return send_sums(1, [&](const cuda::SumsOutbox& box) {
      cuda::rank_update(update, vectors, from, bound, squares, box);
    });
  }
  PendingSteps run_rank_steps(const Matrix<S>& matrix, const RankRun& run, const Buffer<S>& start,
                              const Buffer<S>& jump, const RowScale<S>& scale, const ExactScale& bound,
                              bool squares, const InputPlaces& places, Buffer<S>& score) override {
    const cuda::RankVectors<S> vectors = cuda::run_vectors(start, jump, scale, places, score);
    const cuda::SumsOutbox box = next_mailbox().open(run.most_steps);
    cuda::start_run(matrix, run, vectors, bound, squares, box);
    return cuda::steps_of(run, bound, *mailbox_, box.number);
  }
  PendingSteps run_pair_steps(const PairRun& run, const PairSide<S> (&sides)[2], const ExactScale& bound,
                              bool squares) override {
    const cuda::SumsOutbox box = next_mailbox().open(run.most_steps);
    cuda::start_run(sides, run, bound, squares, box);
    return cuda::steps_of(run, bound, *mailbox_, box.number);
  }
  PendingSums walk_update(const WalkUpdate<S>& update, const Buffer<double>& y, const RowPlaces& places,
                          Buffer<S>& walk, const InputTarget<S>& next, Buffer<S>* origin) override {
    update.require_origin(walk, origin);
    const S* before = walk.data();
    if (origin != nullptr) walk.swap(*origin);
    cuda::WalkVectors<S> vectors =
        walk_vectors(update, before, origin == nullptr ? nullptr : walk.data(), walk, next);
    vectors.y = {y.data(), data_or_null(places.positions)};
    return send_sums(vectors.num_vectors, [&](const cuda::SumsOutbox& box) {
      cuda::walk_update(update.link, update.restart, vectors, update.bound, update.squares, box);
    });
  }
  PendingSums step_walks(const Matrix<S>& matrix, const WalkUpdate<S>& update, const Buffer<S>& x,
                         const Buffer<S>& before, Buffer<S>& walk, const InputTarget<S>& next,
                         const Buffer<S>* origin) override {
    const auto* steps = dynamic_cast<const cuda::StepsWalks<S>*>(&matrix);
    require(steps != nullptr, "a matrix that steps walks");
    update.require_apart(x, before, walk, next, origin);
    const cuda::WalkVectors<S> vectors =
        walk_vectors(update, before.data(), data_or_null(origin), walk, next);
    return send_sums(vectors.num_vectors, [&](const cuda::SumsOutbox& box) {
      steps->step_walks(x, {vectors, update.link, update.restart, update.bound, update.squares, box});
    });
  }
  PendingSums end_with_update(const Matrix<S>& matrix, const EndingUpdate& update, const RowScale<S>& scale,
                              const ExactScale& bound, bool squares, Buffer<S>& score,
                              const InputTarget<S>& next) override {
    const auto* ending = dynamic_cast<const cuda::EndsWithUpdates<S>*>(&matrix);
    require(ending != nullptr, "a matrix whose products end in updates");
    const cuda::RankVectors<S> vectors = rank_vectors({}, {}, scale, score, next);
    return send_sums(1, [&](const cuda::SumsOutbox& box) {
      ending->end_with_update(update, vectors, bound, squares, box);
    });
  }
  PendingSums mark_rows(const Buffer<double>& y, const RowPlaces& places, const Buffer<S>& masses,
                        const ExactScale& bound, Buffer<S>& marks, const InputTarget<S>& next) override {
    const cuda::RankVectors<S> vectors =
        rank_vectors({y.data(), data_or_null(places.positions)}, {}, masses, marks, next);
    return send_sums(1, [&](const cuda::SumsOutbox& box) { cuda::mark_rows(vectors, bound, box); });
  }
  NormSums norm_sums(const Buffer<double>& y, bool squares, const ExactScale& bound) override {
    PendingSums pending = send_sums(1, [&](const cuda::SumsOutbox& box) {
      cuda::norm_sums(y.data(), y.size(), squares, bound, {}, nullptr, box);
    });
    const VectorSums sums = pending.take().front();
    return {sums.change_max, sums.total};
  }
  NormedUpdate normed_update(const NormStep& step, double size, const Buffer<double>& y,
                             const RowPlaces& places, const ExactScale& bound, bool squares, Buffer<S>& score,
                             const InputTarget<S>& next) override {
    if (factor_.empty()) factor_ = cuda::device_buffer<double>(1);
    const cuda::SumsOutbox box = norm_mailbox_.open(1);
    cuda::norm_sums(y.data(), y.size(), step.squares(), step.scale(), step, factor_.data(), box);
    cuda::RankVectors<S> vectors =
        rank_vectors({y.data(), data_or_null(places.positions)}, {}, {}, score, next);
    vectors.factor = factor_.data();
    PendingSums sums = send_sums(1, [&](const cuda::SumsOutbox& its) {
      cuda::rank_update<S>({.link = size}, vectors, {}, bound, squares, its);
    });
    const VectorSums found = norm_mailbox_.receive(box.number).front();
    const NormSums norm{found.change_max, found.total};
    if (!step.covers(norm.largest)) return {norm, std::nullopt};
    return {norm, std::move(sums)};
  }
  void select_vectors(const Buffer<S>& block, unsigned num_vectors, std::span<const unsigned> kept,
                      Buffer<S>& out) override {
    cuda::select_vectors(block.data(), num_vectors, kept, block.size() / num_vectors, out.data());
  }
  std::string peer_offer(int rank, int num_ranks) override { return links_.peer_offer(rank, num_ranks); }
  bool open_peers(std::span<const std::string> offers) override { return links_.open_peers(offers); }
  bool hears_peers() override { return links_.hears_peers(); }
  void settle_peers(bool are_linked) override { links_.settle_peers(are_linked); }
  std::string link_id() override { return cuda::DeviceLinks::id(); }
  void join(const std::string& id, int rank, int num_ranks) override { links_.join(id, rank, num_ranks); }
  void await_links() const override { links_.await(); }
  bool is_linked() const override { return links_.exist(); }
  void leave_links_to_exit() const override { links_.leave_to_exit(); }
  std::shared_ptr<Exchange<S>> make_exchange(ExchangePlan plan) override {
    return links_.make_exchange<S>(std::move(plan));
  }
  std::optional<std::vector<VectorEntry<S>>> largest(const Buffer<S>& vector, std::uint64_t count,
                                                     std::uint64_t most) override {
    return cuda::largest(vector.data(), vector.size(), count, most);
  }
  double dot(const Buffer<S>& a, const Buffer<S>& b) override {
    require(a.size() == b.size(), "vectors of one size");
    return cuda::dot(a.data(), b.data(), a.size(), dot_chunks_);
  }
  void add_scaled(double factor, const Buffer<S>& x, Buffer<S>& y) override {
    require(x.size() == y.size(), "vectors of one size");
    cuda::add_scaled(factor, x.data(), y.data(), y.size());
  }
  void scale_and_add(const Buffer<S>& x, double factor, Buffer<S>& y) override {
    require(x.size() == y.size(), "vectors of one size");
    cuda::scale_and_add(x.data(), factor, y.data(), y.size());
  }
  void multiply_elements(const Buffer<S>& a, const Buffer<S>& b, Buffer<S>& out) override {
    require(a.size() == b.size() && a.size() == out.size(), "vectors of one size");
    cuda::multiply_elements(a.data(), b.data(), out.data(), out.size());
  }
  void synchronize() override { TESSERA_CUDA_CALL(cudaDeviceSynchronize()); }
  std::vector<double> time_runs(const std::function<void()>& work, int count) override {
    const std::vector<cuda::PartWork> runs(static_cast<std::size_t>(count), {"run", work});
    std::vector<double> seconds;
    for (const PartTime& run : cuda::time_on_device(runs, 1)) seconds.push_back(run.seconds);
    return seconds;
  }

 private:
  /// Scratch goes back to the device, also for who packs elsewhere where there was too little.
  template <class Build>
  static auto built(const Build& build) {
    try {
      auto matrix = build();
      cuda::empty_pool();
      return matrix;
    } catch (const NoRoomError&) {
      cuda::empty_pool();
      throw;
    }
  }
  unsigned num_multiprocessors() const { return static_cast<unsigned>(properties_.multiProcessorCount); }
  template <class T>
  static const T* data_or_null(const Buffer<T>* buffer) {
    return buffer == nullptr ? nullptr : buffer->data();
  }
  static cuda::OtherRanks<S> other_ranks(const InputTarget<S>& target) {
    cuda::OtherRanks<S> others;
    require(target.others.size() <= others.kMost, "no more ranks than a kernel reaches");
    std::copy(target.others.begin(), target.others.end(), others.memory);
    others.count = static_cast<unsigned>(target.others.size());
    return others;
  }
  static cuda::RankVectors<S> rank_vectors(const cuda::ProductView& y, const Buffer<S>& jump,
                                           const RowScale<S>& scale, Buffer<S>& score,
                                           const InputTarget<S>& next) {
    return {.y = y,
            .jump = jump.empty() ? nullptr : jump.data(),
            .scale = scale.numbers(),
            .are_masses = scale.are_masses(),
            .before = score.data(),
            .score = score.data(),
            .num_rows = score.size(),
            .out = next.places.count > 0 ? next.out->data() : nullptr,
            .places = next.places,
            .others = other_ranks(next)};
  }
  static cuda::WalkVectors<S> walk_vectors(const WalkUpdate<S>& update, const S* before, const S* origin,
                                           Buffer<S>& walk, const InputTarget<S>& next) {
    return {.y = {},
            .restart_rows = update.restart_rows.data(),
            .scale = update.scale.empty() ? nullptr : update.scale.data(),
            .before = before,
            .origin = origin,
            .walk = walk.data(),
            .num_rows = walk.size() / update.num_vectors(),
            .num_vectors = update.num_vectors(),
            .out = next.places.count > 0 ? next.out->data() : nullptr,
            .places = next.places,
            .others = other_ranks(next),
            .weights = update.weights.data()};
  }
  /// In steps of walks, the sums of the one before are still to come.
  cuda::SumsMailbox& next_mailbox() {
    std::swap(mailbox_, other_mailbox_);
    return *mailbox_;
  }
  /// add(box): starts the kernel that sends sums by it.
  template <class Add>
  PendingSums send_sums(unsigned num_vectors, const Add& add) {
    const cuda::SumsOutbox box = next_mailbox().open(num_vectors);
    add(box);
    return PendingSums([mailbox = mailbox_.get(), number = box.number] { return mailbox->receive(number); });
  }
  Buffer<double> dot_chunks_;
  cudaDeviceProp properties_{};
  std::unique_ptr<cuda::SumsMailbox> mailbox_ = std::make_unique<cuda::SumsMailbox>(),
                                     other_mailbox_ = std::make_unique<cuda::SumsMailbox>();
  cuda::SumsMailbox norm_mailbox_;
  Buffer<double> factor_;
  cuda::DeviceLinks links_;
};

}  // namespace

bool has_cuda_device() { return cuda::num_devices() > 0 && cuda::device_problem().empty(); }

template <class S>
std::unique_ptr<Backend<S>> make_cuda_backend() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  (void)cudaGetLastError();
  if (status != cudaSuccess || count == 0)
    throw ResourceError(std::string("no CUDA device answers (") +
                        (status == cudaSuccess ? "none found" : cudaGetErrorString(status)) +
                        "); use --backend cpu");
  const std::string problem = cuda::device_problem();
  if (!problem.empty()) throw ResourceError(problem);
  return std::make_unique<CudaBackend<S>>();
}

template std::unique_ptr<Backend<float>> make_cuda_backend();
template std::unique_ptr<Backend<double>> make_cuda_backend();

}  // namespace tessera
