// Checksums of cache sections (docs/cache-format.md).
#include "engine/io/cache_checksum.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernels/base/mix_bits.hpp"

namespace tessera {
namespace {

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  RandomBits random(count);
  for (char& c : bytes) c = static_cast<char>(random.next());
  return bytes;
}

TEST(CacheChecksum, IsXxh3) {
  EXPECT_EQ(piece_checksum(""), 0x2D06800538D394C2u);  // published by xxHash for no bytes and seed 0
  EXPECT_EQ(combined_checksum({}), 0u);
  EXPECT_EQ(SectionHasher().finish(), 0u);
}

TEST(CacheChecksum, IsOfThePiecesInOrder) {
  const std::string bytes = random_bytes(2 * kChecksumPieceBytes + 5);
  std::vector<std::uint64_t> pieces;
  for (std::size_t begin = 0; begin < bytes.size(); begin += kChecksumPieceBytes)
    pieces.push_back(piece_checksum(std::string_view(bytes).substr(begin, kChecksumPieceBytes)));
  SectionHasher hasher;
  hasher.add(bytes);
  EXPECT_EQ(hasher.finish(), combined_checksum(pieces));
  std::swap(pieces[0], pieces[1]);
  EXPECT_NE(combined_checksum(pieces), combined_checksum({}));
  SectionHasher again;
  again.add(bytes);
  EXPECT_NE(again.finish(), combined_checksum(pieces));
}

RC_GTEST_PROP(CacheChecksum, DoesNotDependOnTheRuns, (const std::vector<std::uint32_t>& lengths)) {
  static const std::string bytes = random_bytes(3 * kChecksumPieceBytes);
  SectionHasher whole, in_runs;
  whole.add(bytes);
  std::string_view rest = bytes;
  for (const std::uint32_t length : lengths) {
    const std::size_t taken = std::min<std::size_t>(length % (2 * kChecksumPieceBytes), rest.size());
    in_runs.add(rest.substr(0, taken));
    rest.remove_prefix(taken);
  }
  in_runs.add(rest);
  RC_ASSERT(in_runs.finish() == whole.finish());
}

}  // namespace
}  // namespace tessera
