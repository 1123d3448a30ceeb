#include "kernels/cuda/cuda_csr.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/block_padding.hpp"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/cuda_step_runs.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/one_part_matrix.hpp"

namespace tessera::cuda {
namespace {

/// Elements a multiprocessor from which on walks whose rows are not added up in fours take a step in one go:
/// of R-MAT 16 and smaller (14,000) a product and an update take less, of 17 and larger (28,000) more. In
/// fours one step takes less at any size (docs/performance.md).
constexpr std::uint64_t kLeastOfSteps = 20000;

/// Elements a multiprocessor from which on windows take less than registers, but where these cut a row that
/// one window must have (docs/performance.md).
constexpr std::uint32_t kMostOfRegisters = kRankRunStaged / 2;
/// Rows and columns that are looked at for runs: steps of matrices with more are bound by these.
constexpr std::uint64_t kMostRunRows = std::uint64_t{1} << 20;

/// A copy on the device, and kReadAhead more, where there are any.
template <class T>
Buffer<T> padded(const Buffer<T>& elements) {
  if (elements.empty()) return {};
  auto device = device_buffer<T>(elements.size() + kReadAhead);
  TESSERA_CUDA_CALL(cudaMemset(device.data() + elements.size(), 0, kReadAhead * sizeof(T)));
  TESSERA_CUDA_CALL(
      cudaMemcpy(device.data(), elements.data(), elements.size_bytes(), cudaMemcpyHostToDevice));
  device.truncate(elements.size());
  return device;
}

Buffer<unsigned> zeros(std::size_t size) {
  return on_device(std::span<const unsigned>(std::vector<unsigned>(size, 0)));
}

/// Rows dealt to blocks, on the device, and the room that their products need.
class DealtRows {
 public:
  explicit DealtRows(const RowDeal& deal)
      : blocks_(on_device(std::span<const RowBlock>(deal.blocks))),
        row_begins_(on_device(std::span<const std::uint16_t>(deal.row_begins))),
        cut_rows_(on_device(std::span<const CutRow>(deal.cut_rows))),
        chunk_sums_(device_buffer<double>(deal.num_sums)),
        pieces_done_(zeros(deal.cut_rows.size())),
        num_staged_(deal.num_staged),
        most_(deal.most) {}
  CsrDeal view() const {
    // The sums are written by const products, as the deal's view has it.
    return {.blocks = blocks_.data(),
            .num_blocks = static_cast<unsigned>(blocks_.size() - 1),
            .num_staged = num_staged_,
            .most = most_,
            .row_begins = row_begins_.data(),
            .cut_rows = cut_rows_.data(),
            .chunk_sums = chunk_sums_.data(),
            .pieces_done = pieces_done_.data()};
  }

 private:
  Buffer<RowBlock> blocks_;
  Buffer<std::uint16_t> row_begins_;
  Buffer<CutRow> cut_rows_;
  mutable Buffer<double> chunk_sums_;
  mutable Buffer<unsigned> pieces_done_;
  std::uint32_t num_staged_;
  BlockSizes most_;
};

template <class S>
class CudaCsr : public OnePartMatrix<S>, public RunsSteps<S>, public StepsWalks<S> {
 public:
  /// The matrix lies on the device, its offsets are also given as they are on the host.
  CudaCsr(CsrMatrix<S> matrix, std::span<const EdgeOffset> row_offsets, unsigned num_multiprocessors)
      : num_multiprocessors_(num_multiprocessors),
        device_(std::move(matrix)),
        rows_(deal_rows(row_offsets, num_multiprocessors)) {}
  void apply(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors) const override {
    require(x.size() >= device_.num_slots * num_vectors, "x is shorter than the matrix is wide");
    require(y.size() >= device_.num_rows * num_vectors, "y is shorter than the matrix is high");
    if (num_vectors == 1)
      spmv(device_.view(), rows_.view(), x.data(), y.data());
    else
      spmv_block(device_.view(), runs(num_vectors), x.data(), y.data(), num_vectors);
  }
  unsigned block_width(unsigned num_vectors) const override {
    return static_cast<unsigned>(padded_vectors(num_vectors, sizeof(S)));
  }
  void prepare(unsigned num_vectors) const override {
    if (num_vectors == 1) return;
    BlockDeal& deal = block_deal(num_vectors);
    if (!deal.is_dealt) deal_runs(in_fours(num_vectors), deal);
    const std::uint64_t num_sums = deal.num_sums * num_vectors,
                        num_groups = ceil_div(num_vectors, kStepVectors),
                        num_counts = deal.cut_rows.size() * num_groups;
    if (deal.sums.size() < num_sums) deal.sums = device_buffer<double>(num_sums);
    if (deal.chunks_done.size() < num_counts) deal.chunks_done = zeros(num_counts);
    if (runs_taken_.size() < num_groups) runs_taken_ = zeros(num_groups);
  }
  bool prepare_to_run_steps() const override {
    if (!may_run_steps_) may_run_steps_ = deals_run();
    return *may_run_steps_;
  }
  bool runs_in_pair_with(const Matrix<S>& other) const override {
    const auto* csr = dynamic_cast<const CudaCsr*>(&other);
    if (csr == nullptr || !prepare_to_run_steps() || !csr->prepare_to_run_steps()) return false;
    if (!run_rows_) csr->cut_windows();
    if (!csr->run_rows_) cut_windows();
    return kind_of_run(run_matrix(), csr->run_matrix()) != RunKind::none;
  }
  RunMatrix<S> run_matrix() const override {
    require(prepare_to_run_steps(), "a matrix whose steps run");
    return {.a = device_.view(),
            .deal = run_rows_ ? run_rows_->view() : CsrDeal{},
            .windows = run_windows_ ? run_windows_->view() : RunWindows{},
            .prefers_windows = prefers_windows_,
            .cluster = run_cluster_ ? run_cluster_->view() : RunCluster<S>{},
            .memory = run_memory_.data(),
            .x = run_inputs_.data(),
            .other_x = run_inputs_.data() + device_.num_slots};
  }
  bool steps_walks(unsigned num_vectors) const override {
    return in_fours(num_vectors) ||
           (num_vectors > 1 && device_.col_indices.size() >= kLeastOfSteps * num_multiprocessors_);
  }
  void step_walks(const Buffer<S>& x, const WalkStep<S>& step) const override {
    const unsigned num_vectors = step.vectors.num_vectors;
    require(x.size() >= device_.num_slots * num_vectors, "x is shorter than the matrix is wide");
    require(step.vectors.num_rows <= device_.num_rows, "walks are longer than the matrix is high");
    cuda::step_walks(device_.view(), runs(num_vectors), x.data(), step);
  }

 private:
  /// How rows are dealt for blocks of vectors, once there are any.
  struct BlockDeal {
    bool is_dealt = false;
    Buffer<RowRun> runs;
    Buffer<ChunkSums> cut_rows;
    Buffer<unsigned> chunks_done;
    std::uint64_t num_sums = 0;  // of one vector
    Buffer<double> sums;
  };
  static bool in_fours(unsigned num_vectors) { return adds_in_fours(num_vectors, sizeof(S)); }
  bool is_weighted() const { return !device_.values.empty(); }
  unsigned num_run_blocks() const { return std::min(num_multiprocessors_, kMostRunBlocks); }
  /// Rows for runs of steps, in registers and in windows, and what blocks meet by.
  bool deals_run() const {
    const unsigned num_blocks = num_run_blocks();
    const std::uint64_t size = device_.col_indices.size();
    const bool may_be_in_registers = size <= std::uint64_t{kRankRunStaged} * num_blocks &&
                                     device_.num_rows <= std::uint64_t{kRankRunRows} * num_blocks,
               is_large = size > std::uint64_t{kMostOfRegisters} * num_blocks;
    if (size == 0) return false;
    if (may_be_in_registers && can_run_steps<S>(is_weighted())) {
      const Buffer<EdgeOffset> row_offsets = on_host(device_.row_offsets);
      const RowDeal deal = deal_rank_run_rows(row_offsets.span(), num_blocks);
      if (deal.blocks.size() - 1 <= num_blocks) {
        run_rows_.emplace(deal);
        deal_to_cluster(row_offsets.span());
      }
      prefers_windows_ = is_large && deal.cut_rows.empty();
    }
    if (!run_rows_ || is_large) cut_windows();
    if (!run_rows_ && !run_windows_) return false;
    run_memory_ = device_buffer<RunMemory>(1);
    TESSERA_CUDA_CALL(cudaMemset(run_memory_.data(), 0, run_memory_.size_bytes()));
    run_inputs_ = device_buffer<S>(2 * device_.num_slots);
    TESSERA_CUDA_CALL(cudaMemset(run_inputs_.data(), 0, run_inputs_.size_bytes()));
    return true;
  }
  /// Where it pays, and fits.
  void deal_to_cluster(std::span<const EdgeOffset> row_offsets) const {
    if (device_.num_slots > kMostClusterColumns ||
        !pays_in_cluster(device_.num_rows, device_.col_indices.size(), sizeof(S)))
      return;
    const auto num_cols = static_cast<std::uint32_t>(device_.num_slots);
    const ClusterDeal deal =
        deal_cluster_rows(row_offsets, on_host(device_.col_indices).span(), num_cols, is_weighted());
    if (fits_in_cluster<S>(deal.most)) run_cluster_.emplace(deal, on_host(device_.values).span());
  }
  /// Where they fit; once.
  void cut_windows() const {
    const std::size_t room = room_for_windows<S>(is_weighted());
    if (std::exchange(has_cut_windows_, true) ||
        std::max(device_.num_rows, device_.num_slots) > kMostRunRows ||
        device_.col_indices.size() > num_run_blocks() * room / sizeof(std::uint16_t))
      return;
    run_windows_ =
        RunWindowRows::of(device_.view(), on_host(device_.row_offsets).span(), num_run_blocks(), room);
  }
  BlockDeal& block_deal(unsigned num_vectors) const { return block_deals_[in_fours(num_vectors) ? 1 : 0]; }
  void deal_runs(bool fours, BlockDeal& to) const {
    const Buffer<EdgeOffset> row_offsets = on_host(device_.row_offsets);
    const RunDeal deal =
        fours ? deal_runs_in_fours(row_offsets.span(), most_of_piece(device_.num_slots), num_multiprocessors_)
              : cuda::deal_runs(row_offsets.span(), num_multiprocessors_);
    to.runs = on_device(std::span<const RowRun>(deal.runs));
    to.cut_rows = on_device(std::span<const ChunkSums>(deal.cut_rows));
    to.num_sums = deal.num_sums;
    to.is_dealt = true;
  }
  RunView runs(unsigned num_vectors) const {
    prepare(num_vectors);
    BlockDeal& deal = block_deal(num_vectors);
    return {.runs = deal.runs.data(),
            .num_runs = static_cast<unsigned>(deal.runs.size()),
            .cut_rows = deal.cut_rows.data(),
            .chunk_sums = deal.sums.data(),
            .chunks_done = deal.chunks_done.data(),
            .num_cut_rows = static_cast<unsigned>(deal.cut_rows.size()),
            .runs_taken = runs_taken_.data(),
            .num_multiprocessors = num_multiprocessors_};
  }

  const unsigned num_multiprocessors_;
  const CsrMatrix<S> device_;
  const DealtRows rows_;
  mutable std::optional<bool> may_run_steps_;
  mutable std::optional<DealtRows> run_rows_;
  mutable std::optional<RunWindowRows> run_windows_;
  mutable std::optional<RunClusterRows<S>> run_cluster_;
  mutable bool has_cut_windows_ = false, prefers_windows_ = false;
  mutable Buffer<RunMemory> run_memory_;
  mutable Buffer<S> run_inputs_;
  mutable BlockDeal block_deals_[2];  // the second for rows in fours
  mutable Buffer<unsigned> runs_taken_;
};

}  // namespace

template <class S>
std::unique_ptr<Matrix<S>> make_csr(CsrMatrix<S> host, unsigned num_multiprocessors) {
  CsrMatrix<S> device;
  device.num_rows = host.num_rows;
  device.num_slots = host.num_slots;
  device.row_offsets = on_device(host.row_offsets);
  device.col_indices = padded(host.col_indices);
  device.values = padded(host.values);
  return std::make_unique<CudaCsr<S>>(std::move(device), host.row_offsets.span(), num_multiprocessors);
}

template <class S>
std::unique_ptr<Matrix<S>> make_built_csr(CsrMatrix<S> built, unsigned num_multiprocessors) {
  const Buffer<EdgeOffset> row_offsets = on_host(built.row_offsets);
  return std::make_unique<CudaCsr<S>>(std::move(built), row_offsets.span(), num_multiprocessors);
}

template std::unique_ptr<Matrix<float>> make_csr(CsrMatrix<float>, unsigned);
template std::unique_ptr<Matrix<double>> make_csr(CsrMatrix<double>, unsigned);
template std::unique_ptr<Matrix<float>> make_built_csr(CsrMatrix<float>, unsigned);
template std::unique_ptr<Matrix<double>> make_built_csr(CsrMatrix<double>, unsigned);

}  // namespace tessera::cuda
