// A set of small integers (the labels that occur) with their ranks: from label to vertex id without a table
// of ids. One bit a possible key, so that the set of a million-vertex graph stays in a core's cache.
#pragma once
#include <cstdint>

#include "kernels/base/buffer.hpp"

namespace tessera {

class KeySet {
 public:
  KeySet() = default;
  /// Keys 0 .. universe - 1, none present; universe <= 2^32.
  explicit KeySet(std::uint64_t universe);

  std::uint64_t universe() const { return universe_; }
  std::uint64_t num_blocks() const { return blocks_.size(); }
  std::uint64_t bits(std::uint64_t block) const { return blocks_[block].bits; }
  void set_bits(std::uint64_t block, std::uint64_t bits) { blocks_[block].bits = bits; }

  /// Marks `key`; threads may mark at the same time.
  void insert(std::uint32_t key) {
    std::uint64_t& word = blocks_[key >> 6].bits;
    const std::uint64_t bit = std::uint64_t{1} << (key & 63);
    // Nearly all keys have been seen before: reading keeps the line shared between the cores.
    if ((__atomic_load_n(&word, __ATOMIC_RELAXED) & bit) == 0)
      __atomic_fetch_or(&word, bit, __ATOMIC_RELAXED);
  }
  bool contains(std::uint64_t key) const { return (blocks_[key >> 6].bits >> (key & 63)) & 1; }

  /// After the last insert: makes rank() and size() valid.
  void count_ranks();
  std::uint64_t size() const { return size_; }
  /// Present keys below `key` (key <= universe).
  std::uint64_t rank(std::uint64_t key) const;
  /// out[i] = rank(keys[i]); the two may be the same array.
  void ranks(const std::uint32_t* keys, std::uint64_t count, std::uint32_t* out) const;
  /// Calls visit(key) for the present keys with ranks [first, last), ascending.
  template <class Visit>
  void for_each(std::uint64_t first, std::uint64_t last, Visit visit) const {
    for (std::uint64_t block = block_of_rank(first), rank = first; rank < last; ++block) {
      std::uint64_t index = blocks_[block].rank;
      for (std::uint64_t rest = blocks_[block].bits; rest != 0 && rank < last; rest &= rest - 1, ++index) {
        if (index < rank) continue;
        visit(block * 64 + static_cast<unsigned>(__builtin_ctzll(rest)));
        ++rank;
      }
    }
  }

 private:
  struct Block {
    std::uint64_t bits, rank;  // rank: present keys in the blocks before
  };
  std::uint64_t block_of_rank(std::uint64_t rank) const;

  std::uint64_t universe_ = 0, size_ = 0;
  Buffer<Block> blocks_;  // one more than the keys need, so that rank(universe) needs no test
};

}  // namespace tessera
