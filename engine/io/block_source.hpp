// The text in blocks of whole lines, handed out in file order to parser threads.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "engine/io/byte_source.hpp"
#include "engine/io/input_file.hpp"
#include "kernels/base/buffer.hpp"

namespace tessera {

/// Whole lines, each ended by a newline (one is added at the end of the file where it is missing).
/// Reused from call to call; kBlockPadding zero bytes follow the text.
struct TextBlock {
  std::uint64_t index = 0;         ///< 0, 1, 2 ... in file order
  std::uint64_t offset = 0;        ///< of the text in the file; unused by streams
  std::uint64_t lines_before = 0;  ///< streams only: lines in front of this block
  Buffer<char> room;
  std::size_t begin = 0, size = 0;

  std::string_view text() const { return {room.data() + begin, size}; }
  /// Makes room for `bytes` and padding, keeps the first `kept`.
  void reserve(std::size_t bytes, std::size_t kept);
  /// Ends the text at room[begin, end): newline where missing, padding.
  void finish(std::size_t end);
};

/// Any thread may call next.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// The next block (it may have no lines); false when there is none. Throws InputError.
  virtual bool next(TextBlock& block) = 0;
  /// Lines of the file in front of `block`, for messages; slow.
  virtual std::uint64_t lines_before(const TextBlock& block) = 0;
  virtual std::uint64_t bytes_done() const = 0;
};

/// The lines that begin in [begin, end) of a regular file; `first` is where the body of the file begins.
class FileBlockSource : public BlockSource {
 public:
  FileBlockSource(const InputFile& file, std::uint64_t first, std::uint64_t begin, std::uint64_t end,
                  std::size_t block_bytes)
      : file_(file), first_(first), begin_(begin), end_(end), block_bytes_(block_bytes) {}
  bool next(TextBlock& block) override;
  std::uint64_t lines_before(const TextBlock& block) override;
  std::uint64_t bytes_done() const override { return bytes_done_; }

 private:
  std::size_t extend_to_line_end(TextBlock& block, std::uint64_t from, std::size_t have,
                                 std::size_t line) const;

  const InputFile& file_;
  std::uint64_t first_, begin_, end_;
  std::size_t block_bytes_;
  std::atomic<std::uint64_t> next_index_{0};
  std::atomic<std::uint64_t> bytes_done_{0};
};

/// All lines of a stream from `skip` bytes on; `lines_skipped` lines are in these.
class StreamBlockSource : public BlockSource {
 public:
  StreamBlockSource(ByteSource& source, std::uint64_t skip, std::uint64_t lines_skipped,
                    std::size_t block_bytes)
      : source_(source), skip_(skip), lines_(lines_skipped), block_bytes_(block_bytes) {}
  bool next(TextBlock& block) override;
  std::uint64_t lines_before(const TextBlock& block) override { return block.lines_before; }
  std::uint64_t bytes_done() const override { return bytes_done_; }

 private:
  void skip_bytes();
  std::size_t skip_long_comment(TextBlock& block);

  ByteSource& source_;
  std::mutex mutex_;
  std::uint64_t skip_, lines_;
  std::size_t block_bytes_;
  std::uint64_t next_index_ = 0;
  bool at_end_ = false;
  std::string carry_;  // begin of a line whose end has not been read
  std::atomic<std::uint64_t> bytes_done_{0};
};

}  // namespace tessera
