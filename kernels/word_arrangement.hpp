// In which order the lanes of a warp gather their elements (kernels/tile_messages_view.hpp). A device's
// shared memory has banks, each of which serves one word at a time, so that a gather lasts as long as the
// bank that most of its lanes ask. A lane's sum stays the same, bit for bit, where the two sides of an
// addition change places: of the 128 orders that this leaves for four words, each lane takes the one whose
// gathers meet the lanes before it least. Not in the paper.
#pragma once
#include "kernels/base/scratch_words.hpp"
#include "kernels/tile_messages_view.hpp"

namespace tessera {

/// Words of a lane that are arranged together.
inline constexpr unsigned kArrangedWords = kTreeWords;
/// Lanes whose gathers are served together, and banks: 128 bytes at a time.
template <class S>
inline constexpr unsigned kBankLanes = 128 / sizeof(S);

/// One order of the elements of up to four words.
template <unsigned kWords>
struct TreeOrder {
  /// Of each word: 4 times the place of its lower half among all halves, which is how far a number of four
  /// bits is shifted for it. The upper half has the other place of its word.
  std::uint32_t shifts[kWords];

  TESSERA_HD std::uint32_t place(unsigned w) const { return shifts[w] / 8; }
  /// Whether the halves change places.
  TESSERA_HD bool is_turned(unsigned w) const { return (shifts[w] & 4) != 0; }
  /// Of a half, 0 or 1.
  TESSERA_HD std::uint32_t shift(unsigned w, unsigned half) const { return shifts[w] ^ 4 * half; }
  TESSERA_HD std::uint32_t turned(unsigned w, std::uint32_t word) const {
    return is_turned(w) ? word >> 16 | word << 16 : word;
  }
};

/// Chooses the order of one lane after the other. What the lanes so far ask of a bank are eight numbers of
/// four bits, one a gather: 0, 1, 5, 13 or 15 for none, one, two, three, more of them. So one look at an
/// element's bank tells its cost in all gathers, and costs at all places are added, and compared, in the
/// bytes or halves of one number. A third lane costs far more than a second: a gather lasts as long as the
/// bank that is asked most.
template <class S, unsigned kWords, class Banks>
class LaneArranger {
 public:
  static_assert(kWords >= 1 && kWords <= kArrangedWords);

  /// num_words: of each lane, up to kWords. padding: the offset that is no element; it is not put first,
  /// where an element was. banks: a word each (ScratchWords) of what the lanes so far ask.
  TESSERA_HD LaneArranger(unsigned num_words, std::uint32_t padding, Banks& banks)
      : num_words_(num_words), padding_(padding), banks_(banks) {}

  /// No lane so far.
  TESSERA_HD void begin() {
    for (unsigned bank = 0; bank < kBankLanes<S>; ++bank) banks_.store(bank, 0);
  }

  /// Of the next lane, whose elements beyond its words are padding.
  TESSERA_HD TreeOrder<kWords> next(const std::uint32_t (&words)[kWords]) {
    std::uint32_t bank_of[2 * kWords], asked[2 * kWords];
    bool is_padding[2 * kWords];
    for (unsigned i = 0; i < 2 * kWords; ++i) {
      const std::uint32_t offset = words[i / 2] >> 16 * (i % 2) & 0xffffu;
      bank_of[i] = offset % kBankLanes<S>;
      is_padding[i] = offset == padding_;
      asked[i] = is_padding[i] ? kPaddingAsks : banks_.load(bank_of[i]);
    }
    const TreeOrder<kWords> order = order_of(asked, is_padding);
    for (unsigned i = 0; i < 2 * kWords; ++i) {
      const std::uint32_t shift = order.shift(i / 2, i % 2);
      banks_.set_bits(bank_of[i], one_more(asked[i] >> shift) << shift);
    }
    return order;
  }

 private:
  /// As often as can be told at each place: then it does not matter where it goes, and nothing is added.
  static constexpr std::uint32_t kPaddingAsks = ~0u;

  /// asked: of each element's bank.
  TESSERA_HD TreeOrder<kWords> order_of(const std::uint32_t (&asked)[2 * kWords],
                                        const bool (&is_padding)[2 * kWords]) const {
    Word words[kArrangedWords];
    for (unsigned w = 0; w < kWords; ++w)
      words[w] = Word(asked[2 * w], asked[2 * w + 1], is_padding[2 * w], is_padding[2 * w + 1]);
    const Half halves[] = {Half(words[0], words[1], kWords > 1 && num_words_ > 1),
                           Half(words[2], words[3], kWords > 3 && num_words_ > 3)};
    const bool turns_halves = kWords > 3 && num_words_ > 3 &&
                              halves[1].cost(0) + halves[0].cost(1) < halves[0].cost(0) + halves[1].cost(1);
    TreeOrder<kWords> order;
    for (unsigned w = 0; w < kWords; ++w) {
      const std::uint32_t half = 16 * (w / 2) ^ (turns_halves ? 16 : 0),
                          place = half ^ halves[w / 2].turned_by(half) ^ 8 * (w % 2);
      order.shifts[w] = place ^ words[w].turned_by(place);
    }
    return order;
  }

  /// The bits that make a number one more, some of which it may have: 0, 1, 5, 13 gain another each; of 15,
  /// which stays, none.
  TESSERA_HD static std::uint32_t one_more(std::uint32_t number) {
#ifdef __CUDA_ARCH__
    // Bytes 0, 1, 5; of 13 and 15 the highest bit of bytes 5 and 7, everywhere.
    std::uint32_t bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(0x00000401u), "r"(0x00008800u), "r"(number));
    return bytes & 15u;
#else
    constexpr std::uint64_t kGains = 1 | 4 << 4 * 1 | 8 << 4 * 5 | std::uint64_t{2} << 4 * 13;
    return kGains >> 4 * (number & 15u) & 15u;
#endif
  }

  /// Costs of a word as word 0, 1, 2, 3 of the lane, a byte each, its elements as they are or turned,
  /// whichever costs less.
  struct Word {
    static constexpr std::uint32_t kNever = 64;  // more than other places of four words may save
    std::uint32_t costs = 0, is_turned = 0;      // of the latter the highest bits

    TESSERA_HD Word() {}
    TESSERA_HD Word(std::uint32_t low, std::uint32_t high, bool low_is_padding, bool high_is_padding) {
      constexpr std::uint32_t kEven = 0x0f0f0f0fu, kHighest = 0x80808080u, kOnes = 0x01010101u;
      const std::uint32_t as_is = (low & kEven) + (high >> 4 & kEven) + (low_is_padding ? kNever : 0),
                          turned = (high & kEven) + (low >> 4 & kEven) + (high_is_padding ? kNever : 0);
      is_turned = ((as_is | kHighest) - turned - kOnes) & kHighest;
      const std::uint32_t mask = (is_turned >> 7) * 0xffu;
      costs = (turned & mask) | (as_is & ~mask);
    }
    /// 4 if it is turned at a place, else 0. place: times 8.
    TESSERA_HD std::uint32_t turned_by(std::uint32_t place) const { return is_turned >> (place + 5) & 4u; }
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
    /// 8 if they are turned as that half, else 0. half: times 16.
    TESSERA_HD std::uint32_t turned_by(std::uint32_t half) const { return is_turned >> (half + 12) & 8u; }
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

/// The words of a part where they lie for good.
struct PartWords {
  const ArrangedPart& part;
  std::uint32_t padding;
  std::uint32_t* words;  ///< from the part's first on

  TESSERA_HD std::uint32_t load(std::uint32_t k, std::uint32_t lane) const {
    return k < part.num_words ? words[part.word(lane, k)] : padding << 16 | padding;
  }
  TESSERA_HD void store(std::uint32_t k, std::uint32_t lane, std::uint32_t word) const {
    if (k < part.num_words) words[part.word(lane, k)] = word;
  }
};

/// Arranges lanes [first_lane, end_lane) of a part of up to kWords words behind those before. words.load(k,
/// lane) and words.store(k, lane, word): word k of a lane; beyond its own are padding, and may be stored.
/// values: null, or those beside the part's words from its first on. banks: of the lanes before since the
/// last multiple of kBankLanes; left so.
template <unsigned kWords, class S, class Words, class Banks>
TESSERA_HD inline void arrange_lanes(const ArrangedPart& part, std::uint32_t first_lane,
                                     std::uint32_t end_lane, std::uint32_t padding, const Words& words,
                                     S* values, Banks& banks) {
  LaneArranger<S, kWords, Banks> arranger(part.num_words, padding, banks);
  for (std::uint32_t lane = first_lane; lane < end_lane; ++lane) {
    if (lane % kBankLanes<S> == 0) arranger.begin();
    std::uint32_t own[kWords];
    for (unsigned k = 0; k < kWords; ++k) own[k] = words.load(k, lane);
    const TreeOrder<kWords> order = arranger.next(own);
    for (unsigned k = 0; k < kWords; ++k) words.store(order.place(k), lane, order.turned(k, own[k]));
    if (values == nullptr) continue;
    S moved[2 * kWords];
    for (unsigned i = 0; i < 2 * kWords; ++i)
      if (i / 2 < part.num_words) moved[i] = values[2 * part.word(lane, i / 2) + i % 2];
    for (unsigned i = 0; i < 2 * kWords; ++i)
      if (i / 2 < part.num_words)
        values[2 * part.word(lane, order.place(i / 2)) + order.shift(i / 2, i % 2) / 4 % 2] = moved[i];
  }
}

/// All of a slice.
template <class S>
void arrange_slice(const Slice& s, std::uint32_t padding, std::uint32_t* words, S* values) {
  ScratchWords<kBankLanes<S>> banks;
  for (std::uint32_t i = 0; i < num_arranged_parts(s); ++i) {
    const ArrangedPart part = ArrangedPart::of(s, i);
    arrange_lanes<kArrangedWords>(part, 0, part.num_lanes, padding,
                                  PartWords{part, padding, words + part.first_word},
                                  values == nullptr ? nullptr : values + 2 * part.first_word, banks);
  }
}

}  // namespace tessera
