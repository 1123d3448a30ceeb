// In which order the lanes of a warp gather their elements (kernels/tile_messages_view.hpp). A device's
// shared memory has banks, each of which serves one word at a time, so that a gather lasts as long as the
// bank that most of its lanes ask. A lane's sum stays the same, bit for bit, where the two sides of an
// addition change places: of the 128 orders that this leaves for four words, each lane takes the one whose
// gathers meet the lanes before it least. Not in the paper.
#pragma once
#include "kernels/tile_messages_view.hpp"

namespace tessera {

/// Words of a lane that are arranged together, and their elements.
inline constexpr unsigned kArrangedWords = kTreeWords, kArrangedElements = 2 * kArrangedWords;
/// Lanes whose gathers are served together, and banks: 128 bytes at a time.
template <class S>
inline constexpr unsigned kBankLanes = 128 / sizeof(S);

/// What the lanes so far ask of the banks, in each gather: 0, 1 or 3 for none, one, more of them.
class BankLoads {
 public:
  TESSERA_HD std::uint32_t at(unsigned gather, unsigned bank) const {
    return static_cast<std::uint32_t>(loads_[gather] >> 2 * bank) & 3u;
  }
  TESSERA_HD void add(unsigned gather, unsigned bank) {
    loads_[gather] |= std::uint64_t{at(gather, bank) == 0 ? 1u : 2u} << 2 * bank;
  }

 private:
  std::uint64_t loads_[kArrangedElements] = {};
};

/// One order of the elements of four words.
struct TreeOrder {
  bool turns_halves = false;                 ///< the first two words and the last two change places
  bool turns_words[2] = {};                  ///< of each half, where it is then
  bool turns_elements[kArrangedWords] = {};  ///< of each word, where it is then

  template <class T>
  TESSERA_HD void apply(T (&elements)[kArrangedElements]) const {
    const auto swap_if = [&](bool turns, unsigned i, unsigned j) {
      const T low = elements[i], high = elements[j];
      elements[i] = turns ? high : low;
      elements[j] = turns ? low : high;
    };
    for (unsigned i = 0; i < 4; ++i) swap_if(turns_halves, i, i + 4);
    for (unsigned i = 0; i < 4; ++i) swap_if(turns_words[i / 2], i / 2 * 4 + i % 2, i / 2 * 4 + i % 2 + 2);
    for (unsigned w = 0; w < kArrangedWords; ++w) swap_if(turns_elements[w], 2 * w, 2 * w + 1);
  }
};

/// Chooses the order of one lane after the other.
template <class S>
class LaneArranger {
 public:
  /// num_words: of each lane, up to kArrangedWords. padding: the offset that is no element; it is not put
  /// first, where an element was.
  TESSERA_HD LaneArranger(unsigned num_words, std::uint32_t padding)
      : num_words_(num_words), padding_(padding) {}

  /// Of the next lane, whose elements beyond its words are padding.
  TESSERA_HD TreeOrder next(std::uint32_t (&offsets)[kArrangedElements]) {
    const bool is_full = num_words_ == kArrangedWords;  // else halves stay where they are
    Half chosen[2] = {best_half(offsets, 0, 0), {}};
    if (num_words_ > 2) chosen[1] = best_half(offsets, 1, 1);
    TreeOrder order;
    if (is_full) {
      const Half first = best_half(offsets, 1, 0), second = best_half(offsets, 0, 1);
      order.turns_halves = first.cost + second.cost < chosen[0].cost + chosen[1].cost;
      if (order.turns_halves) {
        chosen[0] = first;
        chosen[1] = second;
      }
    }
    for (unsigned to = 0; to < 2; ++to) {
      order.turns_words[to] = chosen[to].turns_words;
      for (unsigned w = 0; w < 2; ++w) order.turns_elements[2 * to + w] = chosen[to].turns_elements[w];
    }
    order.apply(offsets);
    for (unsigned i = 0; i < kArrangedElements; ++i)
      if (offsets[i] != padding_) loads_.add(i, offsets[i] % kBankLanes<S>);
    return order;
  }

 private:
  struct Word {
    std::uint32_t cost;
    bool turns;
  };
  struct Half {
    std::uint32_t cost = 0;
    bool turns_words = false, turns_elements[2] = {};
  };
  static constexpr std::uint32_t kNever = 64;  // more than all elements may cost

  TESSERA_HD std::uint32_t cost(std::uint32_t offset, unsigned gather) const {
    if (offset == padding_) return gather == 0 ? kNever : 0;
    return loads_.at(gather, offset % kBankLanes<S>);
  }
  TESSERA_HD Word best_word(const std::uint32_t (&offsets)[kArrangedElements], unsigned word,
                            unsigned to) const {
    const std::uint32_t low = offsets[2 * word], high = offsets[2 * word + 1];
    const std::uint32_t as_is = cost(low, 2 * to) + cost(high, 2 * to + 1),
                        turned = cost(high, 2 * to) + cost(low, 2 * to + 1);
    return turned < as_is ? Word{turned, true} : Word{as_is, false};
  }
  /// The words 2 * half and the next as the words 2 * to and the next.
  TESSERA_HD Half best_half(const std::uint32_t (&offsets)[kArrangedElements], unsigned half,
                            unsigned to) const {
    const Word first = best_word(offsets, 2 * half, 2 * to);
    if (num_words_ <= 2 * half + 1) return {first.cost, false, {first.turns, false}};
    const Word second = best_word(offsets, 2 * half + 1, 2 * to + 1),
               first_behind = best_word(offsets, 2 * half, 2 * to + 1),
               second_before = best_word(offsets, 2 * half + 1, 2 * to);
    const std::uint32_t as_is = first.cost + second.cost, turned = second_before.cost + first_behind.cost;
    if (turned < as_is) return {turned, true, {second_before.turns, first_behind.turns}};
    return {as_is, false, {first.turns, second.turns}};
  }

  unsigned num_words_;
  std::uint32_t padding_;
  BankLoads loads_;
};

/// What is arranged by itself: up to four words of a block of rows, or of the lanes of a joint row. They lie
/// together.
struct ArrangedPart {
  std::uint64_t first_word = 0;  ///< where the first of them lies
  std::uint32_t num_words = 0;   ///< of a lane
  std::uint32_t num_lanes = 0;

  /// Part `part` of num_arranged_parts(s).
  TESSERA_HD static ArrangedPart of(const Slice& s, std::uint32_t part);
  /// From the first on.
  TESSERA_HD std::uint32_t word(std::uint32_t lane, std::uint32_t k) const { return k * num_lanes + lane; }
  TESSERA_HD std::uint32_t size() const { return num_words * num_lanes; }
};
inline constexpr std::uint32_t kMostPartWords = kArrangedWords * kSliceLanes;

/// What a lane's words fall to, four by four.
TESSERA_HD inline std::uint32_t num_word_groups(const Slice& s) {
  return (s.num_words + kArrangedWords - 1) / kArrangedWords;
}
/// None of rows of one element, which add nothing.
TESSERA_HD inline std::uint32_t num_arranged_parts(const Slice& s) {
  return is_single(s) ? 0 : blocks_of(s) * num_word_groups(s);
}
TESSERA_HD inline ArrangedPart ArrangedPart::of(const Slice& s, std::uint32_t part) {
  const std::uint32_t groups = num_word_groups(s), first_row = part / groups * kSliceLanes,
                      k = part % groups * kArrangedWords, words_left = s.num_words - k;
  ArrangedPart result;
  result.num_words = words_left < kArrangedWords ? words_left : kArrangedWords;
  if (is_joint(s)) {
    result.num_lanes = kSliceLanes;
    result.first_word = slice_word(s, 0, k * kSliceLanes);
  } else {
    const std::uint32_t rows_left = s.num_rows - first_row;
    result.num_lanes = rows_left < kSliceLanes ? rows_left : kSliceLanes;
    result.first_word = slice_word(s, first_row, k);
  }
  return result;
}

/// Arranges a part: its words and, unless null, the values beside them, both from its first on.
template <class S>
TESSERA_HD inline void arrange_part(const ArrangedPart& part, std::uint32_t padding, std::uint32_t* words,
                                    S* values) {
  for (std::uint32_t first_lane = 0; first_lane < part.num_lanes; first_lane += kBankLanes<S>) {
    LaneArranger<S> arranger(part.num_words, padding);
    const std::uint32_t left = part.num_lanes - first_lane,
                        end_lane = first_lane + (left < kBankLanes<S> ? left : kBankLanes<S>);
    for (std::uint32_t lane = first_lane; lane < end_lane; ++lane) {
      std::uint32_t offsets[kArrangedElements];
      for (unsigned k = 0; k < kArrangedWords; ++k) {
        const std::uint32_t word = k < part.num_words ? words[part.word(lane, k)] : padding << 16 | padding;
        offsets[2 * k] = word & 0xffffu;
        offsets[2 * k + 1] = word >> 16;
      }
      const TreeOrder order = arranger.next(offsets);
      for (unsigned k = 0; k < kArrangedWords; ++k)
        if (k < part.num_words) words[part.word(lane, k)] = offsets[2 * k] | offsets[2 * k + 1] << 16;
      if (values == nullptr) continue;
      S moved[kArrangedElements] = {};
      for (unsigned k = 0; k < part.num_words; ++k)
        for (unsigned half = 0; half < 2; ++half) moved[2 * k + half] = values[2 * part.word(lane, k) + half];
      order.apply(moved);
      for (unsigned k = 0; k < part.num_words; ++k)
        for (unsigned half = 0; half < 2; ++half) values[2 * part.word(lane, k) + half] = moved[2 * k + half];
    }
  }
}

/// All of a slice.
template <class S>
void arrange_slice(const Slice& s, std::uint32_t padding, std::uint32_t* words, S* values) {
  for (std::uint32_t i = 0; i < num_arranged_parts(s); ++i) {
    const ArrangedPart part = ArrangedPart::of(s, i);
    arrange_part(part, padding, words + part.first_word,
                 values == nullptr ? nullptr : values + 2 * part.first_word);
  }
}

}  // namespace tessera
