// Strings to keys: every distinct text gets its position in a StringDictionary. One per parser thread.
// Hashed by XXH3 with a seed drawn once a run, so that no prepared file can make the table quadratic;
// keys depend on the order of insertion only.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/parsed_edges.hpp"

namespace tessera {

class StringInterner {
 public:
  StringInterner();
  /// Key of `text`, new or known.
  std::uint64_t intern(std::string_view text);
  std::uint64_t size() const { return dictionary_.size(); }
  StringDictionary take_dictionary();

 private:
  struct Slot {
    std::uint64_t key = 0;   // position + 1, 0 = free
    std::uint64_t hash = 0;
  };
  void grow();

  StringDictionary dictionary_;
  std::vector<Slot> slots_;
};

}  // namespace tessera
