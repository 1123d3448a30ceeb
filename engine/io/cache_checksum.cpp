#include "engine/io/cache_checksum.hpp"

#include <xxhash.h>

#include <algorithm>

namespace tessera {

std::uint64_t piece_checksum(std::string_view piece) { return XXH3_64bits(piece.data(), piece.size()); }

std::uint64_t combined_checksum(std::span<const std::uint64_t> pieces) {
  return pieces.empty() ? 0 : XXH3_64bits(pieces.data(), pieces.size_bytes());
}

void SectionHasher::add(std::string_view bytes) {
  while (!bytes.empty()) {
    if (partial_.empty() && bytes.size() >= kChecksumPieceBytes) {
      pieces_.push_back(piece_checksum(bytes.substr(0, kChecksumPieceBytes)));
      bytes.remove_prefix(kChecksumPieceBytes);
      continue;
    }
    const std::size_t taken = std::min<std::size_t>(bytes.size(), kChecksumPieceBytes - partial_.size());
    partial_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (partial_.size() < kChecksumPieceBytes) return;
    pieces_.push_back(piece_checksum(partial_));
    partial_.clear();
  }
}

std::uint64_t SectionHasher::finish() {
  if (!partial_.empty()) pieces_.push_back(piece_checksum(partial_));
  partial_.clear();
  return combined_checksum(pieces_);
}

}  // namespace tessera
