// A stream of bytes, and the layers that are put on one another: file, decompression, archive member.
// One thread at a time reads.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/io/input_file.hpp"

namespace tessera {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Up to target.size() of the next bytes; 0 only at the end. Throws InputError naming the file.
  virtual std::size_t read(std::span<char> target) = 0;
};

/// Fills `target` as far as the source reaches.
std::size_t read_fully(ByteSource& source, std::span<char> target);

/// The bytes of a file or stream as they are.
class FileSource : public ByteSource {
 public:
  explicit FileSource(InputFile& file) : file_(file) {}
  std::size_t read(std::span<char> target) override;
  std::uint64_t bytes_done() const { return bytes_done_; }

 private:
  InputFile& file_;
  std::uint64_t bytes_done_ = 0;
};

/// Lets the first bytes of another source be looked at before they are read.
class PeekSource : public ByteSource {
 public:
  explicit PeekSource(std::unique_ptr<ByteSource> below) : below_(std::move(below)) {}
  /// The next min(size, what there is) bytes, which stay to be read.
  std::string_view peek(std::size_t size);
  std::size_t read(std::span<char> target) override;

 private:
  std::unique_ptr<ByteSource> below_;
  std::string head_;
  std::size_t head_begin_ = 0;
};

}  // namespace tessera
