// y = A x on a device, for every matrix form, one vector or a block, runs of steps and steps of walks. All
// pointers are device memory, but for `host_tiles`: the tile list as the host sees it, which decides the
// launches.
//
// The sum of a row is the form's (kernels/tile_composite_view.hpp, its tiles in order;
// kernels/tile_messages_view.hpp; kernels/csr_view.hpp). So y has the bits that the CPU gives for the same
// matrix; but many f32 vectors are added up in the order of kernels/rows_in_fours.hpp.
#pragma once
#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/csr_view.hpp"
#include "kernels/cuda/cache_use.hpp"
#include "kernels/cuda/cuda_row_blocks.hpp"
#include "kernels/cuda/cuda_row_runs.hpp"
#include "kernels/cuda/cuda_slice_shares.hpp"
#include "kernels/cuda/cuda_vector_ops.hpp"
#include "kernels/cuda/run_cluster_rows.hpp"
#include "kernels/cuda/run_window_rows.hpp"
#include "kernels/pair_run.hpp"
#include "kernels/tile_composite_view.hpp"

namespace tessera::cuda {

/// What one warp does at a time: some rows of a workload.
struct WarpUnit {
  std::uint32_t workload = 0;   ///< of the tile
  std::uint32_t first_row = 0;  ///< of the workload
};

/// A tile as the host knows it.
struct HostTile {
  Tile tile;
  std::uint64_t num_long = 0;  ///< its first workloads, whose rows are summed by a block each
  std::uint64_t first_unit = 0, num_units = 0;
};

/// How the work of a matrix is dealt to blocks and warps.
struct TileSchedule {
  std::vector<HostTile> tiles;
  std::vector<WarpUnit> units;
};
TileSchedule schedule_tiles(const Tile* tiles, std::uint64_t num_tiles, const Workload* workloads);

/// x: num_slots * num_vectors with zeros in the zero slots; y: num_rows * num_vectors, overwritten.
template <class S>
void spmv(const TileCompositeView<S>& a, const HostTile* host_tiles, const WarpUnit* units, const S* x,
          double* y, unsigned num_vectors);

/// How a pass is dealt to blocks, in device memory.
struct SliceShares {
  const WindowShare* shares = nullptr;
  const std::uint32_t* first_of_block = nullptr;
  std::uint32_t num_blocks = 0;
  std::uint32_t largest_window = 0;
  CacheUse cache_use = CacheUse::as_usual;
};

/// Elements of a window that fits in shared memory beside the rings of 1,024 threads and what aligns them;
/// with the zero, a multiple of 16 bytes.
template <class S>
constexpr std::uint32_t window_elements() {
  return 160 * 1024 / sizeof(S) - 1;
}
/// Shared memory that blocks with such a window need, with the rings and what aligns them
/// (slice_sums.cuh). An H100 has 227 KB, an A100 163.
inline constexpr std::size_t kWindowBlockBytes = (160 + 64 + 2) * 1024;
/// Threads of a block. Windows of half the size leave room for two blocks of 512 on a multiprocessor, of
/// which one loads while the other sums.
template <class S>
constexpr unsigned threads_for(std::uint32_t largest_window) {
  return largest_window > window_elements<S>() / 2 ? 1024 : 512;
}

/// Pass 1 of the tile-messages product of one vector, for the tiles of `shares`: writes their messages.
template <class S>
void send_messages(const SlicePassView<S>& tiles, const SliceShares& shares, const S* x, S* messages);
/// Pass 2: product: num_products * num_vectors, in the order of the slices; writes that of vector q.
template <class S>
void add_messages(const SlicePassView<S>& bins, const SliceShares& shares, const S* messages, double* product,
                  unsigned num_vectors = 1, unsigned q = 0);
/// vector[i] = block[i * num_vectors + q].
template <class S>
void take_vector(const S* block, unsigned num_vectors, unsigned q, std::uint64_t size, S* vector);

/// How a CSR matrix is dealt for products of one vector, in device memory, and room that they use: those of a
/// matrix follow each other, on one stream.
struct CsrDeal {
  const RowBlock* blocks = nullptr;  ///< num_blocks and one more
  unsigned num_blocks = 0;
  std::uint32_t num_staged = kFewStaged;
  BlockSizes most;
  const std::uint16_t* row_begins = nullptr;
  const CutRow* cut_rows = nullptr;
  double* chunk_sums = nullptr;     ///< of the rows that are cut
  unsigned* pieces_done = nullptr;  ///< of each row that is cut; 0 between products
};
/// The same for products of several vectors.
struct RunView {
  const RowRun* runs = nullptr;
  unsigned num_runs = 0;
  const ChunkSums* cut_rows = nullptr;
  double* chunk_sums = nullptr;     ///< num_sums of the deal, of each vector
  unsigned* chunks_done = nullptr;  ///< of each row that is cut, in steps of walks and for rows in fours
                                    ///< for each group of kStepVectors, too; 0 between products
  unsigned num_cut_rows = 0;
  unsigned* runs_taken = nullptr;  ///< by steps of walks, of each group of kStepVectors; 0 between steps
  unsigned num_multiprocessors = 0;
};

/// Elements behind the last of a CSR matrix, of column 0, that products read, but do not add.
inline constexpr std::uint32_t kReadAhead = std::max<std::uint32_t>(kRowBlockThreads, kMostOfPiece);
static_assert(kReadAhead >= kSumLanes);

/// y: num_rows, overwritten. Behind the last element follow kReadAhead more.
template <class S>
void spmv(const CsrView<S>& a, const CsrDeal& deal, const S* x, double* y);
/// x: num_cols * num_vectors, from a multiple of kDeviceLoadBytes on; y: num_rows * num_vectors, overwritten
/// where rows have elements. Behind the last element follow kReadAhead more.
template <class S>
void spmv_block(const CsrView<S>& a, const RunView& deal, const S* x, double* y, unsigned num_vectors);
/// spmv_block where adds_in_fours(num_vectors, ...); deal: of deal_runs_in_fours, num_runs > 0.
void spmv_wide_block(const CsrView<float>& a, const RunView& deal, const float* x, double* y,
                     unsigned num_vectors);

/// Sums of a step that the blocks of a run add to: the words of DeviceSums, with the number of blocks in the
/// upper bits, but the largest change, behind which that number stands by itself.
inline constexpr unsigned kRunWords = kSumWords + 1;
struct RunSums {
  struct alignas(128) Word {  // lines of their own, as blocks add to all of them at about the same time
    Limb value;
  };
  Word words[kRunWords];
};
/// Of a step, of the one before, which all read, and of the one after.
inline constexpr unsigned kSumsInTurn = 3;
/// Blocks that the upper bits can count; one a multiprocessor runs at once.
inline constexpr unsigned kMostRunBlocks = 255;
/// What blocks of runs meet by, in device memory: all 0 before the first run.
struct RunMemory {
  RunSums sums[kSumsInTurn];
  unsigned turn = 0;  ///< which sums are next
};
/// What a matrix that may run steps (Matrix::prepare_to_run_steps) gives for that.
template <class S>
struct RunMatrix {
  CsrView<S> a;                  ///< as for spmv
  CsrDeal deal;                  ///< of deal_rank_run_rows, or no blocks
  RunWindows windows;            ///< or none, where there is a deal
  bool prefers_windows = false;  ///< of both
  RunCluster<S> cluster;         ///< beside a deal, where that is faster, or none
  RunMemory* memory = nullptr;
  S *x = nullptr, *other_x = nullptr;  ///< num_cols each, 0 but for inputs
};
template <class S>
class RunsSteps {
 public:
  virtual ~RunsSteps() = default;
  virtual RunMatrix<S> run_matrix() const = 0;
};
/// The matrix of a run's steps, or of every second one.
template <class S>
struct RunSide {
  CsrView<S> a;
  CsrDeal deal;  ///< or windows, with no more blocks or windows than run at once
  RunWindows windows;
  RankVectors<S> vectors;  ///< without y, factor, others and out
};
/// Steps one after another in one kernel, each A x and rank_update() of it. Run: RankRun, by one matrix, or
/// PairRun, by two in turn.
template <class S, class Run>
struct DeviceRun {
  static constexpr unsigned kSides = std::is_same_v<Run, PairRun> ? 2 : 1;
  RunSide<S> sides[kSides];
  Run run;
  ExactScale bound = ExactScale(0);
  bool squares = false;
  RunMemory* memory = nullptr;
  S* x = nullptr;  ///< inputs of even and of odd steps, of which those of the first are there
  S* other_x = nullptr;
  SumsOutbox box;  ///< for the sums of run.most_steps steps, each as soon as it is made
};
/// Whether blocks can meet and have the memory for it, with their rows in registers.
template <class S>
bool can_run_steps(bool weighted);
/// Shared memory that windows, and what is kept beside them, may take; 0 where blocks cannot meet.
template <class S>
std::size_t room_for_windows(bool weighted);
/// By windows where the first side has some: then all have, and fit together.
template <class S, class Run>
void run_steps(const DeviceRun<S, Run>& how);

/// Where all matrices of a run are dealt to a cluster.
template <class S, unsigned kSides>
struct RunClusters {
  RunCluster<S> sides[kSides];
};
/// Whether the device has clusters, and blocks of one the memory for these rows, or for those of two sides of
/// which each fits by itself.
template <class S>
bool fits_in_cluster(const ClusterSizes& most);
template <class S>
bool fit_in_cluster(const RunClusters<S, 2>& pair);
/// run_steps without squares, by clusters that fit, all of them weighted or none; of `how` neither what rows
/// are otherwise dealt by is used, nor x and memory: the first inputs are made from vectors.before of what is
/// read first.
template <class S, class Run>
void run_in_cluster(const DeviceRun<S, Run>& how, const RunClusters<S, DeviceRun<S, Run>::kSides>& rows);

/// A step of walks: new = link * A x, and `restart` more where a walk restarts. What was before and x are
/// read, the new scores and inputs written to others; entries of rows without elements stay as they are
/// there, but where a walk restarts.
template <class S>
struct WalkStep {
  WalkVectors<S> vectors;  ///< without y
  double link = 0, restart = 0;
  ExactScale bound = ExactScale(0);
  bool squares = false;
  SumsOutbox box;
};
/// A matrix that Backend::step_walks goes by.
template <class S>
class StepsWalks {
 public:
  virtual ~StepsWalks() = default;
  virtual void step_walks(const Buffer<S>& x, const WalkStep<S>& step) const = 0;
};
/// Vectors that a block of threads takes at most; for others there are other blocks.
inline constexpr unsigned kStepVectors = 32;
/// a, deal, x: as for spmv_block; deal.chunks_done for each group of kStepVectors.
template <class S>
void step_walks(const CsrView<S>& a, const RunView& deal, const S* x, const WalkStep<S>& step);
/// step_walks where adds_in_fours(num_vectors, ...); deal: of deal_runs_in_fours.
void step_wide_walks(const CsrView<float>& a, const RunView& deal, const float* x,
                     const WalkStep<float>& step);

}  // namespace tessera::cuda
