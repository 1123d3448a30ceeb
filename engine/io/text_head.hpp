// The first bytes of a text, line by line: what format_probe looks at.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

struct TextHead {
  std::string name;  ///< of the input, for messages
  std::string text;
  bool complete = false;          ///< the text is all there is
  std::uint64_t total_bytes = 0;  ///< length of the whole text, 0 = unknown
};

struct HeadLine {
  std::string_view text;        ///< without newline
  std::uint64_t number = 0;     ///< from 1
  std::size_t next_offset = 0;  ///< first byte of the next line
};

/// Walks the whole lines of a head; a last line without newline counts when the head is complete.
class HeadLines {
 public:
  explicit HeadLines(const TextHead& head, std::size_t offset = 0) : head_(head), offset_(offset) {}
  bool next(HeadLine& line);

 private:
  const TextHead& head_;
  std::size_t offset_;
  std::uint64_t number_ = 0;
};

/// Bytes of a UTF-8 byte-order mark at the start: 0 or 3.
std::size_t byte_order_mark_size(std::string_view text);
/// Throws InputError: "name:line: what".
[[noreturn]] void fail_at_line(const TextHead& text, std::uint64_t line, const std::string& what);
/// The first line that is not blank, trimmed; empty when there is none.
std::string_view first_content(const TextHead& head);
/// The same of a text; InputError where lines end in CR alone.
std::string_view first_content_of_text(const TextHead& head);
/// Whether the head shows two lines that are neither blank nor comment: the first may have names of columns,
/// which the second tells.
bool shows_two_data_lines(const TextHead& head);

}  // namespace tessera
