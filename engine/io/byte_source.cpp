#include "engine/io/byte_source.hpp"

#include <algorithm>
#include <cstring>

namespace tessera {

std::size_t read_fully(ByteSource& source, std::span<char> target) {
  std::size_t done = 0;
  while (done < target.size()) {
    const std::size_t got = source.read(target.subspan(done));
    if (got == 0) break;
    done += got;
  }
  return done;
}

std::size_t FileSource::read(std::span<char> target) {
  // A regular file is read by position, so that reading it twice (list, then read) needs no seek.
  const std::size_t got = file_.is_regular() ? file_.read_at(target, bytes_done_) : file_.read_next(target);
  bytes_done_ += got;
  return got;
}

std::string_view PeekSource::peek(std::size_t size) {
  const std::size_t held = head_.size() - head_begin_;
  if (held < size) {
    head_.erase(0, head_begin_);
    head_begin_ = 0;
    head_.resize(size);
    head_.resize(held + read_fully(*below_, std::span(head_).subspan(held)));
  }
  return std::string_view(head_).substr(head_begin_, size);
}

std::size_t PeekSource::read(std::span<char> target) {
  const std::size_t held = std::min(target.size(), head_.size() - head_begin_);
  if (held == 0) {
    if (!head_.empty()) std::string().swap(head_), head_begin_ = 0;
    return below_->read(target);
  }
  std::memcpy(target.data(), head_.data() + head_begin_, held);
  head_begin_ += held;
  return held;
}

}  // namespace tessera
