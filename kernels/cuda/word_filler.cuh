// The words of slices, arranged: what fill_slice_row gives row after row (kernels/slice_builder.hpp), and
// arrange_slice slice after slice (kernels/word_arrangement.hpp), for all at once.
#pragma once
#include <type_traits>

#include "kernels/cuda/slice_cutter.cuh"
#include "kernels/word_arrangement.hpp"

namespace tessera::cuda {

/// A row's elements: offsets, and values where there are any.
template <class S>
struct SliceElements {
  const std::uint16_t* offsets;
  const S* values;
  std::uint32_t length;
};

/// A part, where its slice's rows begin in the list of all, and the offset that stands for 0.
struct PaddedPart {
  ArrangedPart part;
  std::uint32_t list_row = 0, padding = 0;
};

/// Part `part` of a slice.
struct NumberedPart {
  std::uint32_t slice, part;
};

/// What words are filled from. elements_of(i): of row i of the list. padding_of(slice): the offset that
/// stands for 0.
template <class ElementsOf, class PaddingOf>
struct WordSource {
  const Slice* slices;
  const std::uint32_t* first_rows;
  ElementsOf elements_of;
  PaddingOf padding_of;

  /// Before it is arranged.
  __host__ __device__ std::uint32_t word(const PaddedPart& from, std::uint32_t lane, std::uint32_t k) const {
    const auto row = elements_of(from.list_row + from.part.row(lane));
    const std::uint32_t low = 2 * from.part.word_of_row(lane, k);
    // Without branches, which loads would wait for.
    const std::uint32_t offset = row.offsets[low < row.length ? low : 0],
                        high = row.offsets[low + 1 < row.length ? low + 1 : 0];
    return (low < row.length ? offset : from.padding) | (low + 1 < row.length ? high : from.padding) << 16;
  }

  __host__ __device__ PaddedPart part(const NumberedPart& of) const {
    return {ArrangedPart::of(slices[of.slice], of.part), first_rows[of.slice], padding_of(of.slice)};
  }
};

/// Lanes of a part that are staged at a time, and their words; parts of which a thread looks at words at
/// once.
inline constexpr unsigned kStagedThreads = 64, kStagedLanes = 8, kStagedWords = kStagedLanes * kArrangedWords,
                          kStagedStride = kStagedWords + 1, kPartsAtOnce = 8;

/// ScratchWords of a thread in shared memory, those of all threads side by side, so that threads never ask
/// one bank for different words.
struct SharedWords {
  std::uint32_t* first;

  __device__ std::uint32_t load(unsigned i) const { return first[i * kStagedThreads]; }
  __device__ void store(unsigned i, std::uint32_t word) { first[i * kStagedThreads] = word; }
  /// No other thread changes the word; but an atomic operation without a result need not be waited for, as a
  /// load would.
  __device__ void set_bits(unsigned i, std::uint32_t bits) { atomicOr(first + i * kStagedThreads, bits); }
};

/// A thread a part. A warp fills some lanes of all its threads' parts in shared memory, a thread a word of
/// one part after the other; each thread arranges its own; and the warp writes them.
template <class S, class Source>
__global__ void __launch_bounds__(kStagedThreads)
    fill_parts_kernel(std::uint64_t num_parts, const NumberedPart* list, Source source, std::uint32_t* words,
                      S* values) {
  static_assert(kStagedWords == 32, "a thread of a warp a word");
  __shared__ std::uint32_t bank_words[kBankLanes<S> * kStagedThreads],
      all_staged[kStagedThreads * kStagedStride];
  __shared__ PaddedPart all_parts[kStagedThreads];
  const unsigned lane = threadIdx.x % 32, first = threadIdx.x - lane;
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kStagedThreads + threadIdx.x;
  if (i - lane >= num_parts) return;
  std::uint32_t* const staged = all_staged + first * kStagedStride;
  PaddedPart* const parts = all_parts + first;
  const auto num_owners = static_cast<unsigned>(min(std::uint64_t{32}, num_parts - (i - lane)));
  const PaddedPart own = source.part(list[min(i, num_parts - 1)]);
  parts[lane] = own;
  __syncwarp();
  SharedWords banks{bank_words + threadIdx.x};
  const unsigned rounds = (__reduce_max_sync(~0u, own.part.num_lanes) + kStagedLanes - 1) / kStagedLanes,
                 k = lane / kStagedLanes;
  for (unsigned round = 0; round < rounds; ++round) {
    const std::uint32_t first_lane = round * kStagedLanes, of_part = first_lane + lane % kStagedLanes;
    for (unsigned owner = 0; owner < num_owners; owner += kPartsAtOnce) {
      std::uint32_t found[kPartsAtOnce];
#pragma unroll
      for (unsigned j = 0; j < kPartsAtOnce; ++j) {
        const PaddedPart& from = parts[owner + j];
        found[j] = source.word(from, min(of_part, std::uint32_t{from.part.num_lanes} - 1), k);
      }
#pragma unroll
      for (unsigned j = 0; j < kPartsAtOnce; ++j) staged[(owner + j) * kStagedStride + lane] = found[j];
    }
    __syncwarp();
    const std::uint32_t end_lane = min(first_lane + kStagedLanes, std::uint32_t{own.part.num_lanes});
    if (i < num_parts && first_lane < end_lane)
      arrange_lanes(own.part, first_lane, end_lane, own.padding, staged + lane * kStagedStride, kStagedLanes,
                    values == nullptr ? nullptr : values + 2 * own.part.first_word, banks);
    __syncwarp();
    for (unsigned owner = 0; owner < num_owners; ++owner) {
      const ArrangedPart& to = parts[owner].part;
      if (of_part < to.num_lanes && k < to.num_words)
        words[to.first_word + to.word(of_part, k)] = staged[owner * kStagedStride + lane];
    }
    __syncwarp();
  }
}

inline constexpr unsigned kWordsAtOnce = 4;  // that a thread looks at

/// Rows of one element, which are not arranged, and what alignment leaves behind slices.
template <class Memory, class Source>
void fill_single_words(const Source& source, std::uint64_t num_slices, std::uint32_t* words) {
  Memory::each(num_slices * kSliceLanes, [=] __host__ __device__(std::uint64_t i) {
    const std::uint64_t s = i / kSliceLanes;
    const Slice slice = source.slices[s];
    const std::uint32_t num_words = words_of(slice), end = static_cast<std::uint32_t>(aligned_words(slice)),
                        padding = source.padding_of(s), list_row = source.first_rows[s];
    const auto offset = [&](std::uint32_t w, std::uint32_t half) -> std::uint32_t {
      const std::uint32_t row = element_at(slice, {slice.first_word + w, half}).row;
      // Without branches, which loads would wait for.
      const std::uint32_t found = source.elements_of(list_row + (row < slice.num_rows ? row : 0)).offsets[0];
      return row < slice.num_rows ? found : padding;
    };
    const auto lane = static_cast<std::uint32_t>(i % kSliceLanes);
    for (std::uint32_t w = lane; is_single(slice) && w < num_words; w += kWordsAtOnce * kSliceLanes) {
      std::uint32_t found[kWordsAtOnce];
      for (unsigned j = 0; j < kWordsAtOnce; ++j) {
        const std::uint32_t word = w + j * kSliceLanes < num_words ? w + j * kSliceLanes : num_words - 1;
        found[j] = offset(word, 0) | offset(word, 1) << 16;
      }
      for (unsigned j = 0; j < kWordsAtOnce; ++j)
        if (w + j * kSliceLanes < num_words) words[slice.first_word + w + j * kSliceLanes] = found[j];
    }
    for (std::uint32_t w = num_words + lane; w < end; w += kSliceLanes) words[slice.first_word + w] = 0;
  });
}

/// What is arranged of all slices, slice after slice. Slices are fewer than rows, which 32 bits number.
template <class Memory>
BuildVector<Memory, NumberedPart> list_parts(const CutSlices<Memory>& cut) {
  BuildVector<Memory, NumberedPart> parts(cut.sizes.parts);
  NumberedPart* part = parts.data();
  const std::uint64_t* end = cut.parts.data();
  Memory::each(cut.slices.size(), [=] __host__ __device__(std::uint64_t s) {
    for (std::uint64_t i = end[s]; i < end[s + 1]; ++i)
      part[i] = {static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(i - end[s])};
  });
  return parts;
}

/// Writes all words and arranges them and, unless null, the values beside them, which are written already.
template <class Memory, class S, class ElementsOf, class PaddingOf>
void fill_words(const CutSlices<Memory>& cut, ElementsOf elements_of, PaddingOf padding_of,
                std::uint32_t* words, S* values) {
  using Source = WordSource<ElementsOf, PaddingOf>;
  const std::uint64_t num_slices = cut.slices.size();
  const Slice* slice = cut.slices.data();
  const Source source{slice, cut.first_rows.data(), elements_of, padding_of};
  fill_single_words<Memory>(source, num_slices, words);
  const BuildVector<Memory, NumberedPart> parts = list_parts<Memory>(cut);
  const NumberedPart* part = parts.data();
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    if (parts.empty()) return;
    fill_parts_kernel<S>
        <<<static_cast<unsigned>(ceil_div<std::uint64_t>(parts.size(), kStagedThreads)), kStagedThreads>>>(
            parts.size(), part, source, words, values);
    TESSERA_CUDA_CALL(cudaGetLastError());
  } else {
    ScratchWords<kBankLanes<S>> banks;
    for (std::uint64_t i = 0; i < parts.size(); ++i) {
      const PaddedPart own = source.part(part[i]);
      std::uint32_t* const to = words + own.part.first_word;
      for (std::uint32_t lane = 0; lane < own.part.num_lanes; ++lane)
        for (std::uint32_t k = 0; k < own.part.num_words; ++k)
          to[own.part.word(lane, k)] = source.word(own, lane, k);
      arrange_lanes(own.part, 0, own.part.num_lanes, own.padding, to, own.part.num_lanes,
                    values == nullptr ? nullptr : values + 2 * own.part.first_word, banks);
    }
  }
}

template <class S>
struct ValuePair {
  S low, high;
};

/// Writes the values beside all words, before these are arranged; of padding 0.
template <class Memory, class S, class ElementsOf>
void fill_values(const CutSlices<Memory>& cut, ElementsOf elements_of, S* values) {
  const Slice* slice = cut.slices.data();
  const std::uint32_t* first_row = cut.first_rows.data();
  Memory::each_in_rows(
      cut.words, cut.sizes.words,
      [=] __host__ __device__(std::uint64_t s, std::uint64_t word) -> ValuePair<S> {
        const Slice of = slice[s];
        if (word >= of.first_word + words_of(of)) return {};
        const auto value = [&](std::uint32_t half) {
          const SliceElement element = element_at(of, {word, half});
          if (element.row >= rows_of(of)) return S{0};
          const SliceElements<S> row = elements_of(first_row[s] + element.row);
          return element.k < row.length ? row.values[element.k] : S{0};
        };
        return {value(0), value(1)};
      },
      [=] __host__ __device__(std::uint64_t word, const ValuePair<S>& halves) {
        values[2 * word] = halves.low;
        values[2 * word + 1] = halves.high;
      });
}

}  // namespace tessera::cuda
