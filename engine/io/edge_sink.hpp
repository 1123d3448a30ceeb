// Where one parser thread puts the edges of a block: reused room for the most edges a block can hold, then
// copied to a chunk of the exact size, so that what is kept never has unused room.
#pragma once
#include <cstdint>
#include <cstring>

#include "engine/parsed_edges.hpp"

namespace tessera {

class EdgeSink {
 public:
  /// Room for `max_edges`; forgets what was there.
  void reset(std::size_t max_edges, bool weighted) {
    if (narrow_.size() < 2 * max_edges) narrow_ = Buffer<std::uint32_t>(2 * max_edges);
    if (weighted && weights_.size() < max_edges) weights_ = Buffer<double>(max_edges);
    weighted_ = weighted;
    wide_in_use_ = false;
    size_ = 0;
  }

  void add(std::uint64_t source, std::uint64_t target) {
    if ((source | target) >> 32 != 0 && !wide_in_use_) widen();
    if (wide_in_use_) {
      wide_[2 * size_] = source;
      wide_[2 * size_ + 1] = target;
    } else {
      narrow_[2 * size_] = static_cast<std::uint32_t>(source);
      narrow_[2 * size_ + 1] = static_cast<std::uint32_t>(target);
    }
    ++size_;
  }
  void add(std::uint64_t source, std::uint64_t target, double weight) {
    weights_[size_] = weight;
    add(source, target);
  }

  std::size_t size() const { return size_; }
  /// The edges since reset.
  EdgeChunk take_chunk() const {
    EdgeChunk chunk;
    if (wide_in_use_)
      chunk.wide_pairs = copied(wide_, 2 * size_);
    else
      chunk.pairs = copied(narrow_, 2 * size_);
    if (weighted_) chunk.weights = copied(weights_, size_);
    return chunk;
  }

 private:
  template <class T>
  static Buffer<T> copied(const Buffer<T>& from, std::size_t size) {
    Buffer<T> copy(size);
    if (size != 0) std::memcpy(copy.data(), from.data(), copy.size_bytes());
    return copy;
  }
  void widen() {
    if (wide_.size() < narrow_.size()) wide_ = Buffer<std::uint64_t>(narrow_.size());
    for (std::size_t i = 0; i < 2 * size_; ++i) wide_[i] = narrow_[i];
    wide_in_use_ = true;
  }

  Buffer<std::uint32_t> narrow_;
  Buffer<std::uint64_t> wide_;
  Buffer<double> weights_;
  bool weighted_ = false;
  bool wide_in_use_ = false;
  std::size_t size_ = 0;
};

}  // namespace tessera
