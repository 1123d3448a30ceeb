#include "engine/io/text_head.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/io/line_fields.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

bool HeadLines::next(HeadLine& line) {
  if (offset_ >= head_.text.size()) return false;
  const std::string_view rest = std::string_view(head_.text).substr(offset_);
  const std::size_t newline = rest.find('\n');
  if (newline == std::string_view::npos && !head_.complete) return false;
  line.text = rest.substr(0, newline);
  line.number = ++number_;
  offset_ += line.text.size() + (newline != std::string_view::npos);
  line.next_offset = offset_;
  return true;
}

void fail_at_line(const TextHead& text, std::uint64_t line, const std::string& what) {
  throw InputError(fmt::format("{}:{}: {}", text.name, line, what));
}

std::size_t byte_order_mark_size(std::string_view text) { return text.starts_with("\xEF\xBB\xBF") ? 3 : 0; }

std::string_view first_content(const TextHead& head) {
  HeadLines lines(head, byte_order_mark_size(head.text));
  for (HeadLine line; lines.next(line);)
    if (const std::string_view content = trimmed_line(line.text, 0); !content.empty()) return content;
  return {};
}

std::string_view first_content_of_text(const TextHead& head) {
  const std::string_view first = first_content(head);
  if (first.find('\r') == std::string_view::npos) return first;
  const auto before =
      std::string_view(head.text).substr(0, static_cast<std::size_t>(first.data() - head.text.data()));
  const auto line = static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  fail_at_line(head, line, "lines end in CR alone; convert them to LF (tr '\\r' '\\n')");
}

bool shows_two_data_lines(const TextHead& head) {
  HeadLines lines(head, byte_order_mark_size(head.text));
  int found = 0;
  for (HeadLine line; lines.next(line);) {
    const std::string_view content = trimmed_line(line.text, 0);
    found += !content.empty() && !is_comment(content);
    if (found == 2) return true;
  }
  return false;
}

}  // namespace tessera
