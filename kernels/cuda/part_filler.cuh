// What is arranged of slices (kernels/word_arrangement.hpp), filled and arranged by warps of a device: a
// thread a part.
#pragma once
#include <bit>
#include <cstdint>

#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/shared_address.cuh"
#include "kernels/cuda/word_source.cuh"

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

/// The words of one lane of a part on their way. Those of a row that follow each other are loaded 8 bytes at
/// a time: a warp's rows lie far from each other, and its loads take as long as they ask for rows, however
/// little of each.
template <unsigned kWords>
class LaneElements {
 public:
  /// Asks for the elements of `lane`, whose row this is. Up to 6 bytes of the array in front of the row and
  /// behind it are read, of as many 8 bytes as it lies in.
  template <class Source>
  __host__ __device__ void load(const Source& source, const ListedRow& row, const PaddedPart& of,
                                std::uint32_t lane) {
    const std::uint32_t low = 2 * of.part.word_of_row(lane, 0);
    padding_ = of.padding;
    is_joint_ = of.part.is_joint;
    if (is_joint_) {
#pragma unroll
      for (unsigned i = 0; i < 2 * kWords; ++i)
        loaded_[i] = source.offset(row, low + i / 2 * (2 * kSliceLanes) + i % 2, padding_);
      return;
    }
    const std::uint32_t left = low < row.length ? row.length - low : 0;
    count_ = left < 2 * kWords ? left : 2 * kWords;
    const std::uint64_t begin = row.begin + low;
    skipped_ = static_cast<std::uint32_t>(begin % kOffsetsAtOnce);
    const auto* const from = reinterpret_cast<const Offsets*>(source.offsets) + begin / kOffsetsAtOnce;
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      const Offsets found = count_ > 0 && kOffsetsAtOnce * i < skipped_ + count_ ? from[i] : 0;
      loaded_[2 * i] = static_cast<std::uint32_t>(found);
      loaded_[2 * i + 1] = static_cast<std::uint32_t>(found >> 32);
    }
  }
  /// Word k of the lane, before it is arranged; padding beyond its elements.
  __host__ __device__ std::uint32_t word(unsigned k) const {
    if (is_joint_) return loaded_[2 * k] | loaded_[2 * k + 1] << 16;
    const auto from = [&](unsigned i) { return skipped_ < 2 ? loaded_[i] : loaded_[i + 1]; };
    const std::uint64_t both = std::uint64_t{from(k + 1)} << 32 | from(k);
    const auto found = static_cast<std::uint32_t>(both >> 16 * (skipped_ % 2));
    const std::uint32_t high = 2 * k + 1 < count_ ? found & ~0xffffu : padding_ << 16;
    return (2 * k < count_ ? found & 0xffffu : padding_) | high;
  }

 private:
  using Offsets [[gnu::may_alias]] = std::uint64_t;  // kOffsetsAtOnce of them
  static constexpr unsigned kLoads = (2 * kWords + 2 * (kOffsetsAtOnce - 1)) / kOffsetsAtOnce;

  bool is_joint_;
  std::uint32_t padding_, count_, skipped_;
  std::uint32_t loaded_[2 * (kLoads > kWords ? kLoads : kWords)];
};

/// The parts of a warp, of up to kWords words. Threads fill some lanes of all parts, a lane of one part after
/// the other each; each thread arranges its own part; and they write them.
template <class S, unsigned kWords, class Source>
class PartFiller {
 public:
  using Staged = StagedWords<kWords>;

  /// own: the thread's part, the first num_parts of which are others than the last.
  __device__ PartFiller(const Source& source, const PaddedPart& own, unsigned num_parts, SharedAddress staged)
      : source_(source), own_(own), shape_(WarpShape::of(own.part)), num_parts_(num_parts), staged_{staged} {}

  __device__ void run(std::uint32_t* words, S* values, SharedWords banks) {
    const unsigned most_lanes = __reduce_max_sync(~0u, own_.part.num_lanes);
    for (unsigned first_lane = 0; first_lane < most_lanes; first_lane += Staged::kLanes) {
      fill(first_lane + lane() % Staged::kLanes);
      __syncwarp();
      const std::uint32_t end_lane = min(first_lane + Staged::kLanes, std::uint32_t{own_.part.num_lanes});
      if (lane() < num_parts_ && first_lane < end_lane)
        arrange_lanes<kWords>(own_.part, first_lane, end_lane, own_.padding,
                              StagedPart<kWords>{staged_.part(lane())},
                              values == nullptr ? nullptr : values + 2 * own_.part.first_word, banks);
      __syncwarp();
      write(first_lane + lane() % Staged::kLanes, words);
      __syncwarp();
    }
  }

 private:
  static constexpr unsigned kRowsAtOnce = 2;

  /// What threads tell each other of their parts, in one word.
  struct WarpShape {
    std::uint32_t bits;
    __device__ static WarpShape of(const ArrangedPart& part) {
      return {part.first_in_row | std::uint32_t{part.num_words} << 16 | std::uint32_t{part.num_lanes} << 20 |
              (part.is_joint ? 1u << 31 : 0)};
    }
    /// But for its first row and word.
    __device__ ArrangedPart part() const {
      ArrangedPart result;
      result.first_in_row = static_cast<std::uint16_t>(bits);
      result.num_words = bits >> 16 & 15u;
      result.num_lanes = bits >> 20 & 127u;
      result.is_joint = bits >> 31 != 0;
      return result;
    }
  };

  __device__ static unsigned lane() { return threadIdx.x % 32; }
  __device__ static unsigned own_of(unsigned first) { return first + lane() / Staged::kLanes; }

  /// Rows are on their way while elements of those before are.
  __device__ void fill(std::uint32_t of_lane) const {
    constexpr unsigned kStep = kRowsAtOnce * Staged::kParts;
    ListedRow rows[kRowsAtOnce], next[kRowsAtOnce];
    ask_for_rows(0, of_lane, rows);
    for (unsigned first = 0; first < num_parts_; first += kStep) {
      ask_for_rows(first + kStep < num_parts_ ? first + kStep : first, of_lane, next);
      LaneElements<kWords> elements[kRowsAtOnce];
#pragma unroll
      for (unsigned i = 0; i < kRowsAtOnce; ++i) {
        const unsigned from = own_of(first + i * Staged::kParts);
        const PaddedPart part{.part = WarpShape{__shfl_sync(~0u, shape_.bits, from)}.part(),
                              .padding = __shfl_sync(~0u, own_.padding, from)};
        elements[i].load(source_, rows[i], part, of_lane);
      }
#pragma unroll
      for (unsigned i = 0; i < kRowsAtOnce; ++i) {
        const SharedAddress to = staged_.part(own_of(first + i * Staged::kParts));
#pragma unroll
        for (unsigned k = 0; k < kWords; ++k)
          store_word(Staged::at(to, k, lane() % Staged::kLanes), elements[i].word(k));
        rows[i] = next[i];
      }
    }
  }
  __device__ void ask_for_rows(unsigned first, std::uint32_t of_lane, ListedRow (&rows)[kRowsAtOnce]) const {
#pragma unroll
    for (unsigned i = 0; i < kRowsAtOnce; ++i) {
      const unsigned from = own_of(first + i * Staged::kParts);
      const ArrangedPart part = WarpShape{__shfl_sync(~0u, shape_.bits, from)}.part();
      const std::uint32_t first_row = __shfl_sync(~0u, own_.list_row + own_.part.first_row, from);
      rows[i] = source_.row_of(first_row + part.row(min(of_lane, std::uint32_t{part.num_lanes} - 1)));
    }
  }

  __device__ void write(std::uint32_t of_lane, std::uint32_t* words) const {
#pragma unroll 4
    for (unsigned first = 0; first < num_parts_; first += Staged::kParts) {
      const unsigned from = own_of(first);
      const ArrangedPart part = WarpShape{__shfl_sync(~0u, shape_.bits, from)}.part();
      std::uint32_t* const to = words + __shfl_sync(~0u, own_.part.first_word, from);
      const SharedAddress at = staged_.part(from);
      if (from >= num_parts_ || of_lane >= part.num_lanes) continue;
#pragma unroll
      for (unsigned k = 0; k < kWords; ++k)
        if (k < part.num_words)
          to[part.word(of_lane, k)] = load_word(Staged::at(at, k, lane() % Staged::kLanes));
    }
  }

  const Source& source_;
  const PaddedPart& own_;
  WarpShape shape_;
  unsigned num_parts_;
  Staged staged_;
};

template <class S, class Source>
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
  switch (__reduce_max_sync(~0u, own.part.num_words)) {
    case 1:
      return PartFiller<S, 1, Source>(source, own, own_parts, staged).run(words, values, banks);
    case 2:
      return PartFiller<S, 2, Source>(source, own, own_parts, staged).run(words, values, banks);
    case 3:
      return PartFiller<S, 3, Source>(source, own, own_parts, staged).run(words, values, banks);
    default:
      return PartFiller<S, 4, Source>(source, own, own_parts, staged).run(words, values, banks);
  }
}

}  // namespace tessera::cuda
