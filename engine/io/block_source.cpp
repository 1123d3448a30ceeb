#include "engine/io/block_source.hpp"

#include <algorithm>
#include <cstring>

#include "engine/io/line_fields.hpp"
#include "engine/io/text_edge_parser.hpp"

namespace tessera {

namespace {

constexpr std::size_t kNotFound = static_cast<std::size_t>(-1);

/// Place of the first newline in data[from, to), or kNotFound.
std::size_t find_newline(const char* data, std::size_t from, std::size_t to) {
  if (from >= to) return kNotFound;
  const void* found = std::memchr(data + from, '\n', to - from);
  return found == nullptr ? kNotFound : static_cast<std::size_t>(static_cast<const char*>(found) - data);
}

bool begins_comment(std::string_view line) { return is_comment(trimmed_line(line, 0)); }

std::uint64_t count_newlines(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

void TextBlock::reserve(std::size_t bytes, std::size_t kept) {
  const std::size_t needed = bytes + 1 + kBlockPadding;
  if (room.size() >= needed) return;
  Buffer<char> larger(std::max(needed, room.size() + room.size() / 2));
  if (kept != 0) std::memcpy(larger.data(), room.data(), kept);
  room = std::move(larger);
}

void TextBlock::finish(std::size_t end) {
  if (end > begin && room[end - 1] != '\n') room[end++] = '\n';
  size = end - begin;
  std::memset(room.data() + end, 0, kBlockPadding);
}

bool FileBlockSource::next(TextBlock& block) {
  block.index = next_index_++;
  const std::uint64_t begin = begin_ + block.index * block_bytes_;
  if (begin >= end_) return false;
  const std::uint64_t end = std::min<std::uint64_t>(begin + block_bytes_, end_);
  // The byte before decides whether a line begins at `begin`; the last line may end after `end`.
  const std::uint64_t from = begin > first_ ? begin - 1 : begin;
  constexpr std::size_t kLookAhead = 256;
  const std::size_t owned = static_cast<std::size_t>(end - from);
  block.reserve(owned + kLookAhead, 0);
  const std::size_t have = file_.read_at({block.room.data(), owned + kLookAhead}, from);
  if (have < owned) file_.check_unchanged();
  bytes_done_ += end - begin;
  block.begin = 0;
  if (from < begin) {
    const std::size_t newline = find_newline(block.room.data(), 0, std::min(have, owned));
    block.begin = newline == kNotFound ? owned : newline + 1;
  }
  block.offset = from + block.begin;
  if (block.begin >= std::min(have, owned)) {
    block.begin = 0;
    block.finish(0);
    return true;
  }
  block.finish(extend_to_line_end(block, from, have, std::min(have, owned) - 1));
  return true;
}

// The text ends with the line that holds the byte at `line`; returns the end of that line.
std::size_t FileBlockSource::extend_to_line_end(TextBlock& block, std::uint64_t from, std::size_t have,
                                                std::size_t line) const {
  constexpr std::size_t kStep = std::size_t{1} << 16;
  std::size_t searched = line;
  for (;;) {
    const std::size_t newline = find_newline(block.room.data(), searched, have);
    if (newline != kNotFound) return newline + 1;
    searched = have;
    std::size_t line_begin = line;
    while (line_begin > block.begin && block.room[line_begin - 1] != '\n') --line_begin;
    // Cut a comment (it is skipped anyway); leave another line so long that the parser refuses it.
    const std::string_view text(block.room.data() + line_begin, have - line_begin);
    if (text.size() > 2 * kMaxLineBytes || (text.size() > kStep && begins_comment(text))) return have;
    block.reserve(have + kStep, have);
    const std::size_t got = file_.read_at({block.room.data() + have, kStep}, from + have);
    if (got == 0) return have;
    have += got;
  }
}

std::uint64_t FileBlockSource::lines_before(const TextBlock& block) {
  Buffer<char> room(std::size_t{1} << 20);
  std::uint64_t lines = 0;
  for (std::uint64_t at = 0; at < block.offset;) {
    const std::size_t step =
        static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), block.offset - at));
    const std::size_t got = file_.read_at({room.data(), step}, at);
    if (got == 0) break;
    lines += count_newlines({room.data(), got});
    at += got;
  }
  return lines;
}

bool StreamBlockSource::next(TextBlock& block) {
  const std::lock_guard lock(mutex_);
  skip_bytes();
  if (at_end_) return false;
  block.index = next_index_++;
  block.begin = 0;
  block.lines_before = lines_;
  block.reserve(carry_.size() + block_bytes_, 0);
  std::memcpy(block.room.data(), carry_.data(), carry_.size());
  std::size_t have = carry_.size();
  carry_.clear();
  for (std::size_t searched = 0;;) {
    block.reserve(have + block_bytes_, have);
    const std::size_t got = read_fully(source_, {block.room.data() + have, block_bytes_});
    bytes_done_ += got;
    have += got;
    at_end_ = got < block_bytes_;
    const std::string_view text(block.room.data(), have);
    const std::size_t last = text.substr(searched).rfind('\n');
    if (last != std::string_view::npos || at_end_) {
      const std::size_t end = at_end_ ? have : searched + last + 1;
      carry_.assign(text.substr(end));
      lines_ += count_newlines(text.substr(0, end));
      block.finish(end);
      return true;
    }
    searched = have;
    if (have > kMaxLineBytes && begins_comment(text)) {
      have = skip_long_comment(block);
      searched = 0;
    }
    if (have > 2 * kMaxLineBytes) {  // the parser refuses it
      block.finish(have);
      at_end_ = true;
      return true;
    }
  }
}

// The block holds the begin of a comment: drops the rest of its line. Returns the bytes now in the block: the
// first of the comment (they stand for its line) and what was read after it.
std::size_t StreamBlockSource::skip_long_comment(TextBlock& block) {
  constexpr std::size_t kStep = std::size_t{1} << 16;
  constexpr std::size_t kept = kStep;
  block.reserve(kept + kStep, kept);
  for (;;) {
    char* const target = block.room.data() + kept;
    const std::size_t got = read_fully(source_, {target, kStep});
    bytes_done_ += got;
    const std::size_t newline = find_newline(target, 0, got);
    if (newline != kNotFound) {
      std::memmove(target, target + newline, got - newline);
      return kept + got - newline;
    }
    if (got < kStep) return kept;
  }
}

void StreamBlockSource::skip_bytes() {
  char room[4096];
  while (skip_ > 0) {
    const std::size_t got =
        read_fully(source_, {room, static_cast<std::size_t>(std::min<std::uint64_t>(skip_, sizeof room))});
    if (got == 0) break;
    skip_ -= got;
  }
}

}  // namespace tessera
