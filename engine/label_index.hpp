// Hash tables of 64-bit labels for graphs whose integer labels are too scattered for a KeySet.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/types.hpp"

namespace tessera {

inline std::uint64_t hash_label(std::uint64_t label) {
  label = (label ^ (label >> 32)) * 0x9E3779B97F4A7C15u;
  return label ^ (label >> 29);
}

/// Distinct labels, collected one by one.
class LabelSet {
 public:
  void insert(std::uint64_t label);
  /// The labels in no particular order; the set is empty afterwards.
  std::vector<std::uint64_t> take();

 private:
  void grow();
  std::vector<std::uint64_t> slots_;  // kEmpty: free
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  bool has_empty_value_ = false;  // the label that equals kEmpty
  std::uint64_t count_ = 0;
};

/// From label to its id.
class LabelIndex {
 public:
  /// `labels` distinct; the two spans must outlive the index.
  LabelIndex(std::span<const std::uint64_t> labels, std::span<const VertexId> ids);
  /// out[i] = id of keys[i], each of which must be among the labels.
  template <class Key>
  void find(const Key* keys, std::uint64_t count, VertexId* out) const;

 private:
  std::span<const std::uint64_t> labels_;
  std::span<const VertexId> ids_;
  std::uint64_t mask_ = 0;
  std::vector<std::uint32_t> slots_;  // positions in labels_, or kNoVertex
};

}  // namespace tessera
