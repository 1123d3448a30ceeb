// In which order the lanes of a warp gather their elements (kernels/tile_messages_view.hpp). A device's
// shared memory has banks, each of which serves one word at a time, so that a gather lasts as long as the
// bank that most of its lanes ask. A lane's sum stays the same, bit for bit, where the two sides of an
// addition change places: of the 128 orders that this leaves for four words, each lane takes the one whose
// gathers meet the lanes before it least. Not in the paper.
#pragma once
#include "kernels/base/scratch_words.hpp"
#include "kernels/tile_messages_view.hpp"

namespace tessera {

/// Words of a lane that are arranged together, and their elements.
inline constexpr unsigned kArrangedWords = kTreeWords, kArrangedElements = 2 * kArrangedWords;
/// Lanes whose gathers are served together, and banks: 128 bytes at a time.
template <class S>
inline constexpr unsigned kBankLanes = 128 / sizeof(S);

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

/// Chooses the order of one lane after the other. What the lanes so far ask of a bank are eight numbers of
/// four bits, one a gather: 0, 1, 5, 13 or 15 for none, one, two, three, more of them. So one look at an
/// element's bank tells its cost in all gathers, and costs at all places are added, and compared, in the
/// bytes or halves of one number. A third lane costs far more than a second: a gather lasts as long as the
/// bank that is asked most.
template <class S, class Banks>
class LaneArranger {
 public:
  /// num_words: of each lane, up to kArrangedWords. padding: the offset that is no element; it is not put
  /// first, where an element was. banks: a word each (ScratchWords) of what the lanes so far ask.
  TESSERA_HD LaneArranger(unsigned num_words, std::uint32_t padding, Banks& banks)
      : num_words_(num_words), padding_(padding), banks_(banks) {}

  /// No lane so far.
  TESSERA_HD void begin() {
    for (unsigned bank = 0; bank < kBankLanes<S>; ++bank) banks_.store(bank, 0);
  }

  /// Of the next lane, whose elements beyond its words are padding.
  TESSERA_HD TreeOrder next(std::uint32_t (&offsets)[kArrangedElements]) {
    std::uint32_t asked[kArrangedElements];  // of each element's bank; none of padding
    for (unsigned i = 0; i < kArrangedElements; ++i)
      asked[i] = offsets[i] == padding_ ? 0 : banks_.load(offsets[i] % kBankLanes<S>);
    const auto word = [&](unsigned w) {
      return Word(asked[2 * w], asked[2 * w + 1], offsets[2 * w] == padding_, offsets[2 * w + 1] == padding_);
    };
    const Word words[] = {word(0), word(1), word(2), word(3)};
    const Half halves[] = {Half(words[0], words[1], num_words_ > 1),
                           Half(words[2], words[3], num_words_ > 3)};
    TreeOrder order;
    order.turns_halves = num_words_ == kArrangedWords &&
                         halves[1].cost(0) + halves[0].cost(1) < halves[0].cost(0) + halves[1].cost(1);
    for (unsigned to = 0; to < 2; ++to) {
      const auto turns_word = [&](unsigned w, unsigned place) {
        return order.turns_halves ? words[(w + 2) % kArrangedWords].turns(place) : words[w].turns(place);
      };
      const bool turns = order.turns_halves ? halves[1 - to].turns(to) : halves[to].turns(to);
      order.turns_words[to] = turns;
      for (unsigned place = 2 * to; place < 2 * to + 2; ++place)
        order.turns_elements[place] = turns ? turns_word(place ^ 1u, place) : turns_word(place, place);
    }
    order.apply(offsets);
    order.apply(asked);
    for (unsigned i = 0; i < kArrangedElements; ++i) {
      const std::uint32_t before = asked[i] >> 4 * i & 15u;
      banks_.set_bits(offsets[i] % kBankLanes<S>, offsets[i] == padding_ ? 0u : one_more(before) << 4 * i);
    }
    return order;
  }

 private:
  /// The bit that a number gains.
  TESSERA_HD static std::uint32_t one_more(std::uint32_t number) {
    return number == 0 ? 1u : number == 1 ? 4u : number == 5 ? 8u : 2u;
  }

  /// Costs of a word as word 0, 1, 2, 3 of the lane, a byte each, its elements as they are or turned,
  /// whichever costs less.
  struct Word {
    static constexpr std::uint32_t kNever = 64;  // more than all elements may cost
    std::uint32_t costs, is_turned;              // of the latter the highest bits

    TESSERA_HD Word(std::uint32_t low, std::uint32_t high, bool low_is_padding, bool high_is_padding) {
      constexpr std::uint32_t kEven = 0x0f0f0f0fu, kHighest = 0x80808080u, kOnes = 0x01010101u;
      const std::uint32_t as_is = (low & kEven) + (high >> 4 & kEven) + (low_is_padding ? kNever : 0),
                          turned = (high & kEven) + (low >> 4 & kEven) + (high_is_padding ? kNever : 0);
      is_turned = ((as_is | kHighest) - turned - kOnes) & kHighest;
      const std::uint32_t mask = (is_turned >> 7) * 0xffu;
      costs = (turned & mask) | (as_is & ~mask);
    }
    TESSERA_HD bool turns(unsigned place) const { return (is_turned >> (8 * place + 7) & 1u) != 0; }
  };
  /// The same of two words as the first half and as the second, 16 bits each; they turn only if `is_full`.
  struct Half {
    std::uint32_t costs, is_turned;

    TESSERA_HD Half(const Word& first, const Word& second, bool is_full) {
      constexpr std::uint32_t kEven = 0x00ff00ffu, kHighest = 0x80008000u, kOnes = 0x00010001u;
      const std::uint32_t as_is = (first.costs & kEven) + (second.costs >> 8 & kEven),
                          turned = (second.costs & kEven) + (first.costs >> 8 & kEven);
      is_turned = is_full ? ((as_is | kHighest) - turned - kOnes) & kHighest : 0;
      const std::uint32_t mask = (is_turned >> 15) * 0xffffu;
      costs = (turned & mask) | (as_is & ~mask);
    }
    TESSERA_HD std::uint32_t cost(unsigned half) const { return costs >> 16 * half & 0xffffu; }
    TESSERA_HD bool turns(unsigned half) const { return (is_turned >> (16 * half + 15) & 1u) != 0; }
  };

  unsigned num_words_;
  std::uint32_t padding_;
  Banks& banks_;
};

/// What is arranged by itself: up to four words of a block of rows, or of the lanes of a joint row. They lie
/// together.
struct ArrangedPart {
  std::uint64_t first_word = 0;    ///< where the first of them lies
  std::uint32_t first_row = 0;     ///< of the slice, which lane 0 has
  std::uint16_t first_in_row = 0;  ///< number of lane 0's first word in its row; of a joint row, over 32
  std::uint8_t num_words = 0;      ///< of a lane
  std::uint8_t num_lanes = 0;
  bool is_joint = false;

  /// Part `part` of num_arranged_parts(s).
  TESSERA_HD static ArrangedPart of(const Slice& s, std::uint32_t part);
  /// From the first on, as slice_word() has it.
  TESSERA_HD std::uint32_t word(std::uint32_t lane, std::uint32_t k) const { return k * num_lanes + lane; }
  /// Row and word of the slice that this is.
  TESSERA_HD std::uint32_t row(std::uint32_t lane) const { return first_row + (is_joint ? 0 : lane); }
  TESSERA_HD std::uint32_t word_of_row(std::uint32_t lane, std::uint32_t k) const {
    return is_joint ? (std::uint32_t{first_in_row} + k) * kSliceLanes + lane : first_in_row + k;
  }
};

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
  result.first_in_row = static_cast<std::uint16_t>(k);
  result.num_words = static_cast<std::uint8_t>(words_left < kArrangedWords ? words_left : kArrangedWords);
  result.num_lanes = kSliceLanes;
  result.is_joint = tessera::is_joint(s);
  if (result.is_joint) {
    result.first_word = slice_word(s, 0, k * kSliceLanes);
    return result;
  }
  const std::uint32_t rows_left = s.num_rows - first_row;
  if (rows_left < kSliceLanes) result.num_lanes = static_cast<std::uint8_t>(rows_left);
  result.first_row = first_row;
  result.first_word = slice_word(s, first_row, k);
  return result;
}

/// Arranges lanes [first_lane, end_lane) of a part behind those before. words: the first lane's, `stride`
/// apart, the other lanes' beside them. values: null, or those beside the part's words from its first on.
/// banks: of the lanes before since the last multiple of kBankLanes; left so.
template <class S, class Banks>
TESSERA_HD inline void arrange_lanes(const ArrangedPart& part, std::uint32_t first_lane,
                                     std::uint32_t end_lane, std::uint32_t padding, std::uint32_t* words,
                                     std::uint32_t stride, S* values, Banks& banks) {
  LaneArranger<S, Banks> arranger(part.num_words, padding, banks);
  for (std::uint32_t lane = first_lane; lane < end_lane; ++lane) {
    if (lane % kBankLanes<S> == 0) arranger.begin();
    std::uint32_t offsets[kArrangedElements];
    for (unsigned k = 0; k < kArrangedWords; ++k) {
      const std::uint32_t both =
          k < part.num_words ? words[k * stride + lane - first_lane] : padding << 16 | padding;
      offsets[2 * k] = both & 0xffffu;
      offsets[2 * k + 1] = both >> 16;
    }
    const TreeOrder order = arranger.next(offsets);
    for (unsigned k = 0; k < kArrangedWords; ++k)
      if (k < part.num_words)
        words[k * stride + lane - first_lane] = offsets[2 * k] | offsets[2 * k + 1] << 16;
    if (values == nullptr) continue;
    S moved[kArrangedElements] = {};
    for (unsigned k = 0; k < part.num_words; ++k)
      for (unsigned half = 0; half < 2; ++half) moved[2 * k + half] = values[2 * part.word(lane, k) + half];
    order.apply(moved);
    for (unsigned k = 0; k < part.num_words; ++k)
      for (unsigned half = 0; half < 2; ++half) values[2 * part.word(lane, k) + half] = moved[2 * k + half];
  }
}

/// All of a slice.
template <class S>
void arrange_slice(const Slice& s, std::uint32_t padding, std::uint32_t* words, S* values) {
  ScratchWords<kBankLanes<S>> banks;
  for (std::uint32_t i = 0; i < num_arranged_parts(s); ++i) {
    const ArrangedPart part = ArrangedPart::of(s, i);
    arrange_lanes(part, 0, part.num_lanes, padding, words + part.first_word, part.num_lanes,
                  values == nullptr ? nullptr : values + 2 * part.first_word, banks);
  }
}

}  // namespace tessera
