// What is arranged of slices (kernels/word_arrangement.hpp), filled and arranged by warps of a device: a
// thread a part.
#pragma once
#include <bit>
#include <cstdint>

#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/lane_elements.cuh"
#include "kernels/cuda/shared_address.cuh"

namespace tessera::cuda {

/// Threads of a block, and blocks that a multiprocessor has room for.
inline constexpr unsigned kFillThreads = 64, kFillBlocks = 13;
/// Of a part, at a time.
inline constexpr unsigned kStagedWords = 32, kStagedBytes = 4 * kStagedWords;

/// Words of some lanes of a warp's parts in shared memory, so placed that neither threads with a part each
/// nor with a lane each ask one bank for different words.
template <unsigned kWords>
struct StagedWords {
  static constexpr unsigned kLanes = kStagedWords / std::bit_ceil(kWords),
                            kParts = 32 / kLanes;  ///< that threads with a lane each have
  SharedAddress first;                             ///< of the warp, a multiple of kStagedBytes

  /// Where those of a part lie, of which one at() belongs to a word.
  __host__ __device__ SharedAddress part(unsigned part) const {
    return first + part * kStagedBytes + 4 * (part % kParts * kLanes + part / kParts);
  }
  __host__ __device__ static SharedAddress at(SharedAddress part, unsigned k, unsigned lane) {
    return part ^ 4 * lane ^ 4 * kLanes * k;
  }
};

/// Those of one part, for arrange_lanes().
template <unsigned kWords>
struct StagedPart {
  using Staged = StagedWords<kWords>;
  SharedAddress part;

  __device__ std::uint32_t load(unsigned k, unsigned lane) const {
    return load_word(Staged::at(part, k, lane % Staged::kLanes));
  }
  __device__ void store(unsigned k, unsigned lane, std::uint32_t word) const {
    store_word(Staged::at(part, k, lane % Staged::kLanes), word);
  }
};

/// ScratchWords of a thread in shared memory, those of all threads side by side, so that threads never ask
/// one bank for different words.
struct SharedWords {
  static constexpr unsigned kStride = 4 * kFillThreads;
  SharedAddress first;

  __device__ std::uint32_t load(unsigned i) const { return load_word(first + i * kStride); }
  __device__ void store(unsigned i, std::uint32_t word) const { store_word(first + i * kStride, word); }
  __device__ void set_bits(unsigned i, std::uint32_t bits) const {
    cuda::set_bits(first + i * kStride, bits);
  }
};

/// The parts of a warp, of up to kWords words; of kArrangedWords, if any is joint. Threads fill some lanes of
/// all parts, a lane of one part after the other each; each thread arranges its own part; and they write
/// them. Words of a lane beyond its part's own are padding.
template <class S, unsigned kWords, class Source>
class PartFiller {
 public:
  using Staged = StagedWords<kWords>;

  /// own: the thread's part, the first num_parts of which are others than the last.
  __device__ PartFiller(const Source& source, const PaddedPart& own, unsigned num_parts, SharedAddress staged)
      : source_(source),
        own_(own),
        bits_(WarpBits::of(own)),
        num_parts_(num_parts),
        joint_parts_(__ballot_sync(~0u, own.part.is_joint)),
        staged_{staged},
        own_staged_{kept(staged_.part(lane()))} {}

  /// values: null, or of all words.
  __device__ void run(std::uint32_t* words, S* values, SharedWords banks) {
    const unsigned most_lanes = __reduce_max_sync(~0u, own_.part.num_lanes);
#pragma unroll 1
    for (unsigned first_lane = 0; first_lane < most_lanes; first_lane += Staged::kLanes) {
      fill_all(first_lane + lane() % Staged::kLanes);
      __syncwarp();
      const std::uint32_t end_lane = min(first_lane + Staged::kLanes, std::uint32_t{own_.part.num_lanes});
      if (lane() < num_parts_ && first_lane < end_lane)
        arrange_lanes<kWords>(own_.part, first_lane, end_lane, own_.padding, own_staged_,
                              values == nullptr ? nullptr : values + 2 * own_.part.first_word, banks);
      __syncwarp();
      write(first_lane + lane() % Staged::kLanes, words);
      __syncwarp();
    }
  }

 private:
  static constexpr unsigned kRowsAtOnce = 2;

  /// What threads tell each other of their parts. Windows have at most 65,535 elements, so that 16 bits are
  /// enough for padding.
  struct WarpBits {
    std::uint32_t shape, start;

    __device__ static WarpBits of(const PaddedPart& own) {
      const ArrangedPart& part = own.part;
      const std::uint32_t last_row = part.is_joint ? 0 : part.num_lanes - 1u;
      return {.shape = part.num_words | std::uint32_t{part.num_lanes} << 8 | last_row << 16,
              .start = own.padding | std::uint32_t{part.first_in_row} << 16};
    }
    __device__ static std::uint32_t num_words(std::uint32_t shape) { return shape & 0xffu; }
    __device__ static std::uint32_t num_lanes(std::uint32_t shape) { return shape >> 8 & 0xffu; }
    __device__ static std::uint32_t last_row(std::uint32_t shape) { return shape >> 16; }
  };

  __device__ static unsigned lane() { return threadIdx.x % 32; }
  __device__ static unsigned own_of(unsigned first) { return first + lane() / Staged::kLanes; }

  __device__ void fill_all(std::uint32_t of_lane) const {
    if constexpr (kWords == kArrangedWords) {
      if (joint_parts_ != 0) fill<JointElements<kWords>>(of_lane);
      if (joint_parts_ == ~0u) return;
    }
    fill<RowElements<kWords>>(of_lane);
  }
  /// Parts of one kind; others are left as they are. Rows are on their way while elements of those before
  /// are.
  template <class Elements>
  __device__ void fill(std::uint32_t of_lane) const {
    constexpr unsigned kStep = kRowsAtOnce * Staged::kParts;
    ListedRow rows[kRowsAtOnce], next[kRowsAtOnce];
    ask_for_rows(0, of_lane, rows);
#pragma unroll 1
    for (unsigned first = 0; first < num_parts_; first += kStep) {
      ask_for_rows(first + kStep < num_parts_ ? first + kStep : first, of_lane, next);
      Elements elements[kRowsAtOnce];
      std::uint32_t paddings[kRowsAtOnce];
      bool are_all = true;
#pragma unroll
      for (unsigned i = 0; i < kRowsAtOnce; ++i) {
        const std::uint32_t start = __shfl_sync(~0u, bits_.start, own_of(first + i * Staged::kParts));
        paddings[i] = start & 0xffffu;
        elements[i].load(source_.offsets, rows[i], Elements::first(start >> 16, of_lane));
        are_all = are_all && elements[i].are_all();
        rows[i] = next[i];
      }
      are_all = __all_sync(~0u, are_all);
#pragma unroll
      for (unsigned i = 0; i < kRowsAtOnce; ++i) {
        const unsigned part = own_of(first + i * Staged::kParts);
        if (kWords == kArrangedWords && (joint_parts_ >> part & 1) != Elements::kAreJoint) continue;
#pragma unroll
        for (unsigned k = 0; k < kWords; ++k)
          store_word(Staged::at(staged_.part(part), k, lane() % Staged::kLanes),
                     are_all ? elements[i].word(k) : elements[i].word(k, paddings[i]));
      }
    }
  }
  __device__ void ask_for_rows(unsigned first, std::uint32_t of_lane, ListedRow (&rows)[kRowsAtOnce]) const {
#pragma unroll
    for (unsigned i = 0; i < kRowsAtOnce; ++i) {
      const unsigned from = own_of(first + i * Staged::kParts);
      const std::uint32_t last_row = WarpBits::last_row(__shfl_sync(~0u, bits_.shape, from)),
                          first_row = __shfl_sync(~0u, own_.list_row + own_.part.first_row, from);
      rows[i] = source_.row_of(first_row + min(of_lane, last_row));
    }
  }

  __device__ void write(std::uint32_t of_lane, std::uint32_t* words) const {
#pragma unroll 4
    for (unsigned first = 0; first < num_parts_; first += Staged::kParts) {
      const unsigned from = own_of(first);
      const std::uint32_t shape = __shfl_sync(~0u, bits_.shape, from), num_lanes = WarpBits::num_lanes(shape);
      std::uint32_t* const to = words + __shfl_sync(~0u, own_.part.first_word, from) + of_lane;
      const SharedAddress at = staged_.part(from);
      if (from >= num_parts_ || of_lane >= num_lanes) continue;
#pragma unroll
      for (unsigned k = 0; k < kWords; ++k)
        if (k < WarpBits::num_words(shape))
          to[k * num_lanes] = load_word(Staged::at(at, k, lane() % Staged::kLanes));
    }
  }

  const Source& source_;
  const PaddedPart& own_;
  WarpBits bits_;
  unsigned num_parts_, joint_parts_;
  Staged staged_;
  StagedPart<kWords> own_staged_;
};

/// values: of all words, where they are weighted.
template <class S, bool kIsWeighted, class Source>
__global__ void __launch_bounds__(kFillThreads, kFillBlocks)
    fill_parts_kernel(std::uint32_t num_parts, const NumberedPart* list, Source source, std::uint32_t* words,
                      S* values) {
  wait_for_kernels_before();
  __shared__ std::uint32_t bank_words[kBankLanes<S> * kFillThreads];
  __shared__ __align__(kStagedBytes) std::uint32_t all_staged[kFillThreads * kStagedWords];
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t first = blockIdx.x * kFillThreads + threadIdx.x - lane;
  if (first >= num_parts) return;
  const unsigned own_parts = min(32u, num_parts - first);
  const PaddedPart own = source.part(list[first + min(lane, own_parts - 1)]);
  const SharedAddress staged = shared_address(all_staged + (threadIdx.x - lane) * kStagedWords);
  const SharedWords banks{shared_address(bank_words + (threadIdx.x - lane)) + 4 * lane};
  S* const of_words = kIsWeighted ? values : nullptr;
  switch (__reduce_max_sync(~0u, own.part.is_joint ? kArrangedWords : own.part.num_words)) {
    case 1:
      return PartFiller<S, 1, Source>(source, own, own_parts, staged).run(words, of_words, banks);
    case 2:
      return PartFiller<S, 2, Source>(source, own, own_parts, staged).run(words, of_words, banks);
    case 3:
      return PartFiller<S, 3, Source>(source, own, own_parts, staged).run(words, of_words, banks);
    default:
      return PartFiller<S, 4, Source>(source, own, own_parts, staged).run(words, of_words, banks);
  }
}

}  // namespace tessera::cuda
