#include "engine/io/number_list.hpp"

#include <fmt/format.h>

#include <utility>

#include "engine/io/atomic_file.hpp"
#include "engine/io/line_fields.hpp"
#include "engine/io/open_input.hpp"
#include "engine/io/quoted_text.hpp"
#include "engine/io/weight_text.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// The size line of an array: "ROWS 1".
void check_array_sizes(const TextHead& text, const HeadLine& line, std::uint64_t size) {
  LineFields fields(0, false);
  fields.split(trimmed_line(line.text, 0));
  if (fields.size() != 2 || fields[0] != std::to_string(size) || fields[1] != "1")
    fail_at_line(text, line.number,
                 fmt::format("expected the size line \"{} 1\" (a column of {} numbers), found {}", size, size,
                             quoted_text(line.text)));
}

}  // namespace

std::vector<double> read_numbers(const std::string& path, std::uint64_t size) {
  const TextHead text = read_whole(path);
  HeadLines lines(text, byte_order_mark_size(text.text));
  HeadLine line;
  std::vector<double> numbers;
  bool needs_sizes = false;
  while (lines.next(line)) {
    const std::string_view content = trimmed_line(line.text, 0);
    if (line.number == 1 && content.starts_with("%%MatrixMarket")) {
      if (content.find(" array ") == std::string_view::npos)
        fail_at_line(text, line.number,
                     "expected \"array\" in the banner of a vector, found " + quoted_text(content));
      needs_sizes = true;
    }
    if (content.empty() || is_comment(content)) continue;
    if (std::exchange(needs_sizes, false)) {
      check_array_sizes(text, line, size);
      continue;
    }
    double number = 0;
    if (!parse_decimal(content, Sign::any, number))
      fail_at_line(text, line.number, "expected a number, found " + quoted_text(content));
    numbers.push_back(number);
  }
  if (numbers.size() != size)
    throw InputError(fmt::format("{}: expected {} numbers, one for each row of the matrix, found {}",
                                 text.name, size, numbers.size()));
  return numbers;
}

void write_numbers(const std::string& path, std::span<const double> numbers) {
  AtomicFile file(path);
  std::string text;
  for (const double number : numbers) {
    text += fmt::format("{}\n", number);
    if (text.size() < (std::size_t{1} << 20)) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  file.commit();
}

}  // namespace tessera
