// See label_index.hpp. Open addressing with linear probing, at most half full.
#include "engine/label_index.hpp"

#include <algorithm>
#include <bit>

#include "kernels/base/error.hpp"

namespace tessera {

void LabelSet::insert(std::uint64_t label) {
  if (label == kEmpty) {
    has_empty_value_ = true;
    return;
  }
  if (2 * (count_ + 1) > slots_.size()) grow();
  const std::uint64_t mask = slots_.size() - 1;
  std::uint64_t slot = hash_label(label) & mask;
  while (slots_[slot] != kEmpty && slots_[slot] != label) slot = (slot + 1) & mask;
  if (slots_[slot] == label) return;
  slots_[slot] = label;
  ++count_;
}

void LabelSet::grow() {
  std::vector<std::uint64_t> old(std::max<std::size_t>(1024, slots_.size() * 2), kEmpty);
  old.swap(slots_);
  const std::uint64_t mask = slots_.size() - 1;
  for (std::uint64_t label : old) {
    if (label == kEmpty) continue;
    std::uint64_t slot = hash_label(label) & mask;
    while (slots_[slot] != kEmpty) slot = (slot + 1) & mask;
    slots_[slot] = label;
  }
}

std::vector<std::uint64_t> LabelSet::take() {
  std::vector<std::uint64_t> labels = std::move(slots_);
  std::erase(labels, kEmpty);
  if (has_empty_value_) labels.push_back(kEmpty);
  *this = LabelSet();
  return labels;
}

LabelIndex::LabelIndex(std::span<const std::uint64_t> labels, std::span<const VertexId> ids)
    : labels_(labels),
      ids_(ids),
      mask_(std::bit_ceil(2 * labels.size() + 1) - 1),
      slots_(mask_ + 1, kNoVertex) {
  require(labels.size() <= kMaxVertices && labels.size() == ids.size(), "LabelIndex: sizes do not match");
  for (std::uint64_t i = 0; i < labels.size(); ++i) {
    std::uint64_t slot = hash_label(labels[i]) & mask_;
    while (slots_[slot] != kNoVertex) slot = (slot + 1) & mask_;
    slots_[slot] = static_cast<std::uint32_t>(i);
  }
}

/// In blocks, each step for all keys of a block, so that many cache misses are under way at once.
template <class Key>
void LabelIndex::find(const Key* keys, std::uint64_t count, VertexId* out) const {
  constexpr std::uint64_t kBlock = 64;
  std::uint64_t slots[kBlock];
  for (std::uint64_t begin = 0; begin < count; begin += kBlock) {
    const std::uint64_t size = std::min(kBlock, count - begin);
    for (std::uint64_t i = 0; i < size; ++i) {
      slots[i] = hash_label(keys[begin + i]) & mask_;
      __builtin_prefetch(&slots_[slots[i]]);
    }
    // A key that is there finds its first slot taken, by itself or another.
    for (std::uint64_t i = 0; i < size; ++i) __builtin_prefetch(&labels_[slots_[slots[i]]]);
    for (std::uint64_t i = 0; i < size; ++i) {
      std::uint64_t slot = slots[i];
      while (labels_[slots_[slot]] != keys[begin + i]) slot = (slot + 1) & mask_;
      out[begin + i] = ids_[slots_[slot]];
    }
  }
}

template void LabelIndex::find(const std::uint32_t*, std::uint64_t, VertexId*) const;
template void LabelIndex::find(const std::uint64_t*, std::uint64_t, VertexId*) const;

}  // namespace tessera
