#include "engine/io/string_interner.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <random>
#include <utility>

#include "kernels/base/error.hpp"

namespace tessera {

namespace {

constexpr int kLengthBits = 21;
constexpr std::uint64_t kFirstSlots = 1024;

std::uint64_t hash_of(std::string_view text) {
  static const std::uint64_t seed = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  }();
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

}  // namespace

std::uint64_t StringInterner::intern(std::string_view text) {
  require(text.size() <= kMaxTextBytes, "StringInterner: the text is too long");
  const std::uint64_t hash = hash_of(text), mask = slots_.size() - 1;
  const auto upper = static_cast<std::uint32_t>(hash >> 32);
  std::uint64_t at = hash & mask;
  for (; slots_[at].key_1 != 0; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.hash == upper && (slot.place & kMaxTextBytes) == text.size() &&
        std::memcmp(dictionary_.bytes.data() + (slot.place >> kLengthBits), text.data(), text.size()) == 0)
      return slot.key_1 - 1;
  }
  const std::uint64_t key = dictionary_.size();
  if (key >= kMaxVertices)
    throw InputError("more than " + std::to_string(kMaxVertices) + " different labels");
  slots_[at] = {upper, static_cast<std::uint32_t>(key + 1),
                dictionary_.bytes.size() << kLengthBits | text.size()};
  dictionary_.bytes += text;
  dictionary_.offsets.push_back(dictionary_.bytes.size());
  if (dictionary_.size() * 2 > slots_.size()) resize(slots_.size() * 2);
  return key;
}

void StringInterner::resize(std::uint64_t num_slots) {
  Buffer<Slot> slots(num_slots);
  std::memset(slots.data(), 0, slots.size_bytes());
  slots_.swap(slots);
  const std::uint64_t mask = num_slots - 1;
  for (const Slot& slot : slots) {
    if (slot.key_1 == 0) continue;
    std::uint64_t at = hash_of(dictionary_.text(slot.key_1 - 1)) & mask;
    while (slots_[at].key_1 != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

void StringInterner::clear() {
  dictionary_ = {};
  slots_ = {};
  resize(kFirstSlots);
}

StringDictionary StringInterner::take_dictionary() {
  StringDictionary taken = std::exchange(dictionary_, StringDictionary{});
  clear();
  return taken;
}

}  // namespace tessera
