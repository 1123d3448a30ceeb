#include "engine/io/string_interner.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <random>
#include <utility>

namespace tessera {

namespace {

std::uint64_t run_seed() {
  static const std::uint64_t seed = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  }();
  return seed;
}

}  // namespace

StringInterner::StringInterner() : slots_(1024) {}

std::uint64_t StringInterner::intern(std::string_view text) {
  const std::uint64_t hash = XXH3_64bits_withSeed(text.data(), text.size(), run_seed());
  std::uint64_t place = hash & (slots_.size() - 1);
  for (; slots_[place].key != 0; place = (place + 1) & (slots_.size() - 1))
    if (slots_[place].hash == hash && dictionary_.text(slots_[place].key - 1) == text)
      return slots_[place].key - 1;
  dictionary_.bytes += text;
  dictionary_.offsets.push_back(dictionary_.bytes.size());
  slots_[place] = {dictionary_.size(), hash};
  const std::uint64_t key = dictionary_.size() - 1;
  if (dictionary_.size() * 2 > slots_.size()) grow();
  return key;
}

void StringInterner::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  for (const Slot& slot : slots_) {
    if (slot.key == 0) continue;
    std::uint64_t place = slot.hash & (larger.size() - 1);
    while (larger[place].key != 0) place = (place + 1) & (larger.size() - 1);
    larger[place] = slot;
  }
  slots_ = std::move(larger);
}

StringDictionary StringInterner::take_dictionary() {
  slots_.assign(1024, Slot{});
  return std::exchange(dictionary_, StringDictionary{});
}

}  // namespace tessera
