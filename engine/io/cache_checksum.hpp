// The checksum of a cache section: XXH3-64 of the XXH3-64 values of its pieces, so that threads and ranks
// can check pieces apart.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Small enough that a piece is still in the L2 cache when its elements are checked after its hash.
inline constexpr std::uint64_t kChecksumPieceBytes = std::uint64_t{1} << 18;

std::uint64_t piece_checksum(std::string_view piece);
/// Of a section from its pieces in order; 0 for none.
std::uint64_t combined_checksum(std::span<const std::uint64_t> pieces);

/// Of a section whose bytes come in runs of any length.
class SectionHasher {
 public:
  void add(std::string_view bytes);
  std::uint64_t finish();

 private:
  std::string partial_;  ///< less than a piece
  std::vector<std::uint64_t> pieces_;
};

}  // namespace tessera
