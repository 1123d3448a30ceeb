// Strings to keys: every distinct text gets its position in a StringDictionary. One per parser thread.
// Hashed by XXH3 with a seed drawn once a run, so that no prepared file can make the table quadratic;
// keys depend on the order of insertion only.
#pragma once
#include <cstdint>
#include <string_view>

#include "engine/parsed_edges.hpp"

namespace tessera {

class StringInterner {
 public:
  /// Longest text that intern takes.
  static constexpr std::size_t kMaxTextBytes = (std::size_t{1} << 21) - 1;

  StringInterner() { clear(); }
  /// Key of `text`, new or known. Throws InputError past kMaxVertices texts.
  std::uint64_t intern(std::string_view text);
  /// Gives the dictionary away and begins anew.
  StringDictionary take_dictionary();

 private:
  // Small on purpose: in a large table every slot and every text looked at is a cache miss.
  struct Slot {
    std::uint32_t hash;   ///< the upper half; the lower chose the place
    std::uint32_t key_1;  ///< key + 1, 0 = free
    std::uint64_t place;  ///< of the text in the bytes: offset << 21 | length
  };
  void clear();
  void resize(std::uint64_t num_slots);

  StringDictionary dictionary_;
  Buffer<Slot> slots_;
};

}  // namespace tessera
