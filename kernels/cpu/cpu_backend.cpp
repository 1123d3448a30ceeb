// The Backend over OpenMP: one line an operation. Device memory is host memory.
#include "kernels/cpu/cpu_backend.hpp"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "kernels/base/error.hpp"
#include "kernels/block_padding.hpp"
#include "kernels/cpu/cpu_largest.hpp"
#include "kernels/cpu/cpu_linear_ops.hpp"
#include "kernels/cpu/cpu_spmv.hpp"
#include "kernels/cpu/cpu_vector_ops.hpp"

namespace tessera {
namespace {

/// 65,535 columns and the zero slot: 256 KiB of fp32, the L2 of today's cores (and the paper's tile).
constexpr TilingLimits kCpuLimits{.tile_columns = 65535, .warp_width = kSumLanes, .max_active_warps = 64};

template <class S, class Storage>
class CpuMatrix : public Matrix<S> {
 public:
  explicit CpuMatrix(Storage storage) : storage_(std::move(storage)) {}
  void apply(const Buffer<S>& x, Buffer<double>& y, unsigned num_vectors) const override {
    require(x.size() >= storage_.num_slots * num_vectors, "x is shorter than the matrix is wide");
    require(y.size() >= storage_.num_rows * num_vectors, "y is shorter than the matrix is high");
    cpu::spmv(storage_.view(), x.data(), y.data(), num_vectors);
  }
  unsigned most_vectors() const override { return kMostHostVectors; }

 private:
  Storage storage_;
};

/// Products of this backend's matrices are.
void require_in_order(const RowPlaces& places) {
  require(places.positions == nullptr, "the CPU's products lie in the order of the rows");
}

template <class S>
class CpuBackend : public Backend<S> {
 public:
  std::string name() const override { return "cpu"; }
  std::string description() const override {
    const int threads = omp_get_max_threads();
    return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  }
  TilingLimits tiling_limits() const override { return kCpuLimits; }
  bool memory_is_host() const override { return true; }

  std::shared_ptr<void> allocate_bytes(std::size_t num_bytes) override {
    return num_bytes == 0 ? nullptr : allocate_host(num_bytes);
  }
  void upload(const void* host, void* device, std::size_t num_bytes) override {
    if (num_bytes != 0) std::memcpy(device, host, num_bytes);
  }
  void download(const void* device, void* host, std::size_t num_bytes) override {
    if (num_bytes != 0) std::memcpy(host, device, num_bytes);
  }
  std::unique_ptr<Matrix<S>> make_matrix(TileComposite<S> matrix) override {
    return std::make_unique<CpuMatrix<S, TileComposite<S>>>(std::move(matrix));
  }
  std::unique_ptr<Matrix<S>> make_matrix(TileMessages<S> matrix, std::shared_ptr<Exchange<S>>) override {
    return std::make_unique<CpuMatrix<S, TileMessages<S>>>(std::move(matrix));
  }
  std::unique_ptr<Matrix<S>> make_matrix(CsrMatrix<S> matrix) override {
    return std::make_unique<CpuMatrix<S, CsrMatrix<S>>>(std::move(matrix));
  }

  void clear_bytes(void* data, std::size_t num_bytes) override {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    const std::size_t num_pieces = ceil_div(num_bytes, kPiece);
#pragma omp parallel for schedule(static) if (num_pieces > 1)
    for (std::size_t i = 0; i < num_pieces; ++i)
      std::memset(static_cast<char*>(data) + i * kPiece, 0, std::min(kPiece, num_bytes - i * kPiece));
  }
  void fill(Buffer<S>& vector, S value) override { cpu::fill(vector.data(), vector.size(), value); }
  void put_inputs(const Buffer<S>& vector, const Buffer<S>* scale, unsigned num_vectors,
                  const InputTarget<S>& target) override {
    require(target.others.empty(), "ranks on CPUs do not write to each other's memory");
    cpu::put_inputs(vector.data(), scale == nullptr ? nullptr : scale->data(), target.places, num_vectors,
                    target.out->data());
  }
  PendingSums rank_update(const RankUpdate& update, const Buffer<double>& y, const RowPlaces& places,
                          const Buffer<S>& jump, const RowScale<S>& scale, const ExactScale& bound,
                          bool squares, Buffer<S>& score, const InputTarget<S>& next,
                          RankOrigin<S>* origin) override {
    require_in_order(places);
    if (origin != nullptr) origin->require_beside(score);
    const VectorSums sums = cpu::rank_update(
        update, y.data(), jump.empty() ? nullptr : jump.data(), scale.numbers(), scale.are_masses(), bound,
        squares, score.data(), score.size(), origin == nullptr ? 1 : origin->weight,
        origin == nullptr ? nullptr : origin->scores.data());
    if (next.places.count > 0) put_inputs(score, scale.of_inputs(), 1, next);
    return PendingSums({sums});
  }
  PendingSums walk_update(const WalkUpdate<S>& update, const Buffer<double>& y, const RowPlaces& places,
                          Buffer<S>& walk, const InputTarget<S>& next, Buffer<S>* origin) override {
    require_in_order(places);
    const unsigned num_vectors = update.num_vectors();
    update.require_origin(walk, origin);
    if (origin != nullptr) walk.swap(*origin);
    const S* before = origin == nullptr ? walk.data() : origin->data();
    std::vector<VectorSums> sums =
        cpu::walk_update(update.link, update.restart, y.data(), update.restart_rows.span(), update.weights,
                         update.bound, update.squares, before, walk.data(), walk.size() / num_vectors);
    if (next.places.count > 0)
      put_inputs(walk, update.scale.empty() ? nullptr : &update.scale, num_vectors, next);
    return PendingSums(std::move(sums));
  }
  PendingSums mark_rows(const Buffer<double>& y, const RowPlaces& places, const Buffer<S>& masses,
                        const ExactScale& bound, Buffer<S>& marks, const InputTarget<S>& next) override {
    require_in_order(places);
    const VectorSums sums =
        cpu::mark_rows(y.data(), masses.empty() ? nullptr : masses.data(), bound, marks.data(), marks.size());
    if (next.places.count > 0) put_inputs(marks, nullptr, 1, next);
    return PendingSums({sums});
  }
  NormSums norm_sums(const Buffer<double>& y, bool squares, const ExactScale& bound) override {
    return cpu::norm_sums(y.data(), y.size(), squares, bound);
  }
  void select_vectors(const Buffer<S>& block, unsigned num_vectors, std::span<const unsigned> kept,
                      Buffer<S>& out) override {
    cpu::select_vectors(block.data(), num_vectors, kept, block.size() / num_vectors, out.data());
  }
  std::optional<std::vector<VectorEntry<S>>> largest(const Buffer<S>& vector, std::uint64_t count,
                                                     std::uint64_t most) override {
    return cpu::largest(vector.data(), vector.size(), count, most);
  }
  double dot(const Buffer<S>& a, const Buffer<S>& b) override {
    require(a.size() == b.size(), "vectors of one size");
    return cpu::dot(a.data(), b.data(), a.size());
  }
  void add_scaled(double factor, const Buffer<S>& x, Buffer<S>& y) override {
    require(x.size() == y.size(), "vectors of one size");
    cpu::add_scaled(factor, x.data(), y.data(), y.size());
  }
  void scale_and_add(const Buffer<S>& x, double factor, Buffer<S>& y) override {
    require(x.size() == y.size(), "vectors of one size");
    cpu::scale_and_add(x.data(), factor, y.data(), y.size());
  }
  void multiply_elements(const Buffer<S>& a, const Buffer<S>& b, Buffer<S>& out) override {
    require(a.size() == b.size() && a.size() == out.size(), "vectors of one size");
    cpu::multiply_elements(a.data(), b.data(), out.data(), out.size());
  }
  void synchronize() override {}
};

}  // namespace

template <class S>
std::unique_ptr<Backend<S>> make_cpu_backend() {
  return std::make_unique<CpuBackend<S>>();
}

template std::unique_ptr<Backend<float>> make_cpu_backend();
template std::unique_ptr<Backend<double>> make_cpu_backend();

}  // namespace tessera
