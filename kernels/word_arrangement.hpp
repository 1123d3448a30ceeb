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
    Half halves[2][2];
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned to = 0; to < 2; ++to) halves[half][to] = best_half(offsets, half, to);
    TreeOrder order;
    order.turns_halves = num_words_ == kArrangedWords &&
                         halves[1][0].cost + halves[0][1].cost < halves[0][0].cost + halves[1][1].cost;
    for (unsigned to = 0; to < 2; ++to) {
      const Half& half = order.turns_halves ? halves[1 - to][to] : halves[to][to];
      order.turns_words[to] = half.turns_words;
      for (unsigned w = 0; w < 2; ++w) order.turns_elements[2 * to + w] = half.turns_elements[w];
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
    Word words[2][2];
    for (unsigned w = 0; w < 2; ++w)
      for (unsigned place = 0; place < 2; ++place)
        words[w][place] = best_word(offsets, 2 * half + w, 2 * to + place);
    const std::uint32_t as_is = words[0][0].cost + words[1][1].cost,
                        turned = words[1][0].cost + words[0][1].cost;
    if (num_words_ >= 2 * half + 2 && turned < as_is)
      return {turned, true, {words[1][0].turns, words[0][1].turns}};
    return {as_is, false, {words[0][0].turns, words[1][1].turns}};
  }

  unsigned num_words_;
  std::uint32_t padding_;
  BankLoads loads_;
};

/// What a lane's words fall to, four by four.
TESSERA_HD inline std::uint32_t num_word_groups(const Slice& s) {
  return (s.num_words + kArrangedWords - 1) / kArrangedWords;
}
/// Parts of a slice that are arranged each by itself: four words of the lanes that are served together. None
/// of rows of one element, which add nothing.
template <class S>
TESSERA_HD inline std::uint32_t num_arrangements(const Slice& s) {
  return is_single(s) ? 0 : blocks_of(s) * (kSliceLanes / kBankLanes<S>)*num_word_groups(s);
}

/// Arranges part `part` of a slice: its words and, unless null, the values beside them.
template <class S>
TESSERA_HD inline void arrange_part(const Slice& s, std::uint32_t part, std::uint32_t padding,
                                    std::uint32_t* words, S* values) {
  constexpr std::uint32_t kLaneGroups = kSliceLanes / kBankLanes<S>;
  const std::uint32_t groups = num_word_groups(s);
  const std::uint32_t first_word = part % groups * kArrangedWords,
                      first_lane = part / groups % kLaneGroups * kBankLanes<S>,
                      first_row = part / groups / kLaneGroups * kSliceLanes;
  const std::uint32_t num_lanes = is_joint(s) ? kSliceLanes : s.num_rows - first_row;
  const std::uint32_t end_lane =
      first_lane + kBankLanes<S> < num_lanes ? first_lane + kBankLanes<S> : num_lanes;
  const std::uint32_t left = s.num_words - first_word,
                      num_words = left < kArrangedWords ? left : kArrangedWords;
  LaneArranger<S> arranger(num_words, padding);
  for (std::uint32_t lane = first_lane; lane < end_lane; ++lane) {
    const auto word_at = [&](unsigned k) {
      return is_joint(s) ? slice_word(s, 0, (first_word + k) * kSliceLanes + lane)
                         : slice_word(s, first_row + lane, first_word + k);
    };
    std::uint32_t offsets[kArrangedElements];
    for (unsigned k = 0; k < kArrangedWords; ++k) {
      const std::uint32_t word = k < num_words ? words[word_at(k)] : padding << 16 | padding;
      offsets[2 * k] = word & 0xffffu;
      offsets[2 * k + 1] = word >> 16;
    }
    const TreeOrder order = arranger.next(offsets);
    for (unsigned k = 0; k < kArrangedWords; ++k)
      if (k < num_words) words[word_at(k)] = offsets[2 * k] | offsets[2 * k + 1] << 16;
    if (values == nullptr) continue;
    S moved[kArrangedElements] = {};
    for (unsigned k = 0; k < num_words; ++k)
      for (unsigned half = 0; half < 2; ++half) moved[2 * k + half] = values[2 * word_at(k) + half];
    order.apply(moved);
    for (unsigned k = 0; k < num_words; ++k)
      for (unsigned half = 0; half < 2; ++half) values[2 * word_at(k) + half] = moved[2 * k + half];
  }
}

/// All of a slice.
template <class S>
void arrange_slice(const Slice& s, std::uint32_t padding, std::uint32_t* words, S* values) {
  for (std::uint32_t part = 0; part < num_arrangements<S>(s); ++part)
    arrange_part(s, part, padding, words, values);
}

}  // namespace tessera
