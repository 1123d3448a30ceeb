// The words of slices, arranged: what fill_slice_row gives row after row (kernels/slice_builder.hpp), and
// arrange_slice slice after slice (kernels/word_arrangement.hpp), for all at once.
#pragma once
#include <type_traits>

#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/part_filler.cuh"

namespace tessera::cuda {

/// Threads of a slice, more where slices are so few that a device waits for the longest, and words of which
/// each looks at elements at once, where nothing is arranged.
inline constexpr unsigned kSliceThreads = 8, kMoreSliceThreads = 16, kWordsAtOnce = 8;
inline constexpr std::uint64_t kFewSlices = std::uint64_t{1} << 18;

/// Words of a slice of rows of one element, which are `list_row` and those behind it.
template <unsigned kThreads, class Source>
__host__ __device__ void fill_single_words(const Source& source, const Slice& slice, std::uint32_t list_row,
                                           std::uint32_t padding, std::uint32_t thread,
                                           std::uint32_t* words) {
  const std::uint32_t num_words = words_of(slice);
  const auto offset = [&](std::uint32_t w, std::uint32_t half) -> std::uint32_t {
    const std::uint32_t row = element_at(slice, {slice.first_word + w, half}).row;
    // Without branches, which loads would wait for.
    const std::uint32_t found =
        source.offsets[source.row_of(list_row + (row < slice.num_rows ? row : 0)).begin];
    return row < slice.num_rows ? found : padding;
  };
  for (std::uint32_t w = thread; w < num_words; w += kWordsAtOnce * kThreads) {
    std::uint32_t found[kWordsAtOnce];
    for (unsigned j = 0; j < kWordsAtOnce; ++j) {
      const std::uint32_t word = w + j * kThreads < num_words ? w + j * kThreads : num_words - 1;
      found[j] = offset(word, 0) | offset(word, 1) << 16;
    }
    for (unsigned j = 0; j < kWordsAtOnce; ++j)
      if (w + j * kThreads < num_words) words[slice.first_word + w + j * kThreads] = found[j];
  }
}

/// Lists the parts of a slice that is not of rows of one element. starts: of each kind.
template <unsigned kThreads>
__host__ __device__ void list_slice_parts(std::uint64_t s, const Slice& slice, std::uint32_t thread,
                                          const PartCounts& starts, const PartsBefore& before,
                                          NumberedPart* parts) {
  const KindsOfSlice kinds = KindsOfSlice::of(slice);
  const std::uint32_t groups = num_word_groups(slice), whole = slice.num_words / kArrangedWords,
                      count = num_arranged_parts(slice), first = starts[kinds.whole] + before.whole,
                      first_rest =
                          kinds.rest == kinds.whole ? first + whole : starts[kinds.rest] + before.rest;
  for (std::uint32_t p = thread; p < count; p += kThreads) {
    const std::uint32_t block = p / groups, k = p % groups;
    parts[k < whole ? first + block * whole + k : first_rest + block] = {static_cast<std::uint32_t>(s), p};
  }
}

/// list_parts() with so many threads a slice.
template <unsigned kThreads, class Memory, class Source>
void list_parts_by(const CutSlices<Memory>& cut, const Source& source, std::uint32_t* words, Slice* kept,
                   NumberedPart* parts, cudaStream_t stream) {
  const PartsBefore* parts_before = cut.parts_before.data();
  const PartCounts starts = cut.sizes.parts.starts();
  const auto list = [=] __host__ __device__(std::uint64_t i) {
    const std::uint64_t s = i / kThreads;
    const auto thread = static_cast<std::uint32_t>(i % kThreads);
    // All that may be needed is asked for at once.
    const Slice slice = source.slices[s];
    const PartsBefore before = parts_before[s];
    const std::uint32_t list_row = source.first_rows[s], padding = source.padding_of(s);
    if (thread == 0) kept[s] = slice;
    if (is_single(slice))
      fill_single_words<kThreads>(source, slice, list_row, padding, thread, words);
    else
      list_slice_parts<kThreads>(s, slice, thread, starts, before, parts);
    for (std::uint64_t w = words_of(slice) + thread; w < aligned_words(slice); w += kThreads)
      words[slice.first_word + w] = 0;
  };
  Memory::each(cut.slices.size() * kThreads, list, stream);
}

/// What is arranged of all slices, and the words that are not: of rows of one element, and what alignment
/// leaves behind slices. Slices go to `kept`, too, which has no room for more. Slices are fewer than rows,
/// which 32 bits number. stream: of a device, where it is not the default one; parts: as many as there are.
template <class Memory, class Source>
void list_parts(const CutSlices<Memory>& cut, const Source& source, std::uint32_t* words, Slice* kept,
                BuildVector<Memory, NumberedPart>& parts, cudaStream_t stream = nullptr) {
  const auto list = cut.slices.size() < kFewSlices ? list_parts_by<kMoreSliceThreads, Memory, Source>
                                                   : list_parts_by<kSliceThreads, Memory, Source>;
  list(cut, source, words, kept, parts.data(), stream);
}

/// Writes the words of listed parts and arranges them and, unless null, the values beside them, which are
/// written already.
template <class Memory, class S, class Source>
void fill_parts(const BuildVector<Memory, NumberedPart>& parts, const Source& source, std::uint32_t* words,
                S* values, cudaStream_t stream = nullptr) {
  const NumberedPart* part = parts.data();
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    if (parts.empty()) return;
    const auto num_parts = static_cast<std::uint32_t>(parts.size());
    const auto num_blocks = static_cast<unsigned>(ceil_div<std::uint64_t>(num_parts, kFillThreads));
    launch_early(stream,
                 values == nullptr ? fill_parts_kernel<S, false, Source> : fill_parts_kernel<S, true, Source>,
                 num_blocks, kFillThreads, 0, num_parts, part, source, words, values);
  } else {
    ScratchWords<kBankLanes<S>> banks;
    for (std::uint64_t i = 0; i < parts.size(); ++i) {
      const PaddedPart own = source.part(part[i]);
      const PartWords to{own.part, own.padding, words + own.part.first_word};
      for (std::uint32_t lane = 0; lane < own.part.num_lanes; ++lane) {
        const ListedRow row = source.row_of(own.list_row + own.part.row(lane));
        for (std::uint32_t k = 0; k < own.part.num_words; ++k) {
          const std::uint32_t low = 2 * own.part.word_of_row(lane, k);
          to.store(k, lane,
                   source.offset(row, low, own.padding) | source.offset(row, low + 1, own.padding) << 16);
        }
      }
      arrange_lanes<kArrangedWords>(own.part, 0, own.part.num_lanes, own.padding, to,
                                    values == nullptr ? nullptr : values + 2 * own.part.first_word, banks);
    }
  }
}

template <class S>
struct ValuePair {
  S low, high;
};

/// Writes the values beside all words, before these are arranged; of padding 0.
template <class Memory, class S, class Source>
void fill_values(const CutSlices<Memory>& cut, const Source& source, S* values) {
  const std::uint64_t num_slices = cut.slices.size(), num_words = cut.sizes.words;
  BuildVector<Memory, std::uint64_t> first_words(num_slices + 1);
  std::uint64_t* first_word = first_words.data();
  Memory::each(first_words.size(), [=] __host__ __device__(std::uint64_t s) {
    first_word[s] = s < num_slices ? source.slices[s].first_word : num_words;
  });
  Memory::each_in_rows(
      first_words, cut.sizes.words,
      [=] __host__ __device__(std::uint64_t s, std::uint64_t word) -> ValuePair<S> {
        const Slice of = source.slices[s];
        if (word >= of.first_word + words_of(of)) return {};
        const auto value = [&](std::uint32_t half) {
          const SliceElement element = element_at(of, {word, half});
          if (element.row >= rows_of(of)) return S{0};
          const ListedRow row = source.row_of(source.first_rows[s] + element.row);
          return element.k < row.length ? source.values[row.begin + element.k] : S{0};
        };
        return {value(0), value(1)};
      },
      [=] __host__ __device__(std::uint64_t word, const ValuePair<S>& halves) {
        values[2 * word] = halves.low;
        values[2 * word + 1] = halves.high;
      });
}

}  // namespace tessera::cuda
