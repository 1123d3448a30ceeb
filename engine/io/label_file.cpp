#include "engine/io/label_file.hpp"

#include <fmt/format.h>

#include <optional>

#include "engine/io/cache_header.hpp"
#include "engine/io/line_fields.hpp"
#include "engine/io/lower_case.hpp"
#include "engine/io/open_input.hpp"
#include "engine/io/quoted_text.hpp"
#include "engine/io/text_head.hpp"
#include "engine/io/weight_text.hpp"
#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {

namespace {

/// The whole text, the same on every rank. Each rank then parses all of it, so that errors agree too.
TextHead read_whole(const std::string& path, Communicator& comm) {
  TextHead whole;
  whole.complete = true;
  run_together(comm, [&] {
    if (comm.is_root()) whole = tessera::read_whole(path);
  });
  comm.broadcast(whole.name, 0);
  comm.broadcast(whole.text, 0);
  return whole;
}

/// What a text that holds no lines with labels seems to be; "" where that cannot be seen.
std::string other_kind(const TextHead& text) {
  const std::string_view content = std::string_view(text.text).substr(byte_order_mark_size(text.text));
  if (content.starts_with("\x93NUMPY")) return "a NumPy array";
  if (content.starts_with(kCacheMagic)) return "a cache of a graph";
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && (content[first] == '{' || content[first] == '[');
  return is_json ? "JSON" : "";
}

/// Calls `use` with each line that is neither blank nor comment.
template <class Use>
void for_each_line(const TextHead& text, const Use& use) {
  HeadLines lines(text, byte_order_mark_size(text.text));
  for (HeadLine line; lines.next(line);) {
    const std::string_view content = trimmed_line(line.text, 0);
    if (content.empty() || is_comment(content)) continue;
    if (content.find('\0') != std::string_view::npos)
      fail_at_line(text, line.number, "a NUL byte, expected text");
    use(line);
  }
}

bool is_header(const LineFields& fields) {
  double number = 0;
  if (fields.size() < 2 || parse_decimal(fields[1], Sign::any, number)) return false;
  for (const std::string_view name : {"node", "label", "vertex", "id", "name"})
    if (lower_case(fields[0]) == name) return true;
  return false;
}

/// The first delimiter that makes "label, number" or a header of the first line; 0 = white space.
char find_delimiter(const TextHead& text) {
  std::optional<char> found;
  for_each_line(text, [&](const HeadLine& line) {
    bool is_alone = true;  // a label that has no value tells nothing
    for (const char delimiter : {'\t', ',', ';', '\0'}) {
      if (found) return;
      LineFields fields(delimiter, delimiter != 0);
      double number = 0;
      if (*fields.split(trimmed_line(line.text, delimiter)) != 0 || fields.size() < 2) continue;
      is_alone = false;
      if (parse_decimal(fields[1], Sign::any, number) || is_header(fields)) found = delimiter;
    }
    if (!found && !is_alone) found = '\0';
  });
  return found.value_or('\0');
}

/// Where the header says that `column` is; the second column when it does not.
std::size_t value_index(const LineFields& header, std::string_view column) {
  for (std::size_t i = 1; i < header.size(); ++i)
    if (lower_case(header[i]) == column) return i;
  return 1;
}

LabelValue label_value(const TextHead& text, const HeadLine& line, const LineFields& fields,
                       std::size_t value_at, std::optional<double> value_if_none) {
  const bool is_alone = fields.size() == 1 && value_if_none;
  if (fields.size() <= value_at && !is_alone)
    fail_at_line(text, line.number, "expected a label and a number, found " + quoted_text(line.text));
  if (fields[0].empty()) fail_at_line(text, line.number, "the label is empty");
  LabelValue result{std::string(fields[0]), 0, line.number};
  if (is_alone) {
    result.value = *value_if_none;
  } else if (!parse_decimal(fields[value_at], Sign::not_negative, result.value)) {
    fail_at_line(text, line.number,
                 "expected a finite number that is not negative after the label, found " +
                     quoted_text(fields[value_at]));
  }
  return result;
}

void append_values(const TextHead& text, std::string_view column, std::optional<double> value_if_none,
                   std::vector<LabelValue>& values) {
  const char delimiter = find_delimiter(text);
  LineFields fields(delimiter, delimiter != 0);
  bool first = true;
  std::size_t value_at = 1;
  for_each_line(text, [&](const HeadLine& line) {
    if (const char* problem = fields.split(trimmed_line(line.text, delimiter)); *problem != 0)
      fail_at_line(text, line.number, fmt::format("{}: {}", problem, quoted_text(line.text)));
    if (first && is_header(fields))
      value_at = value_index(fields, column);
    else
      values.push_back(label_value(text, line, fields, value_at, value_if_none));
    first = false;
  });
}

}  // namespace

std::vector<LabelValue> read_label_values(const std::string& path, std::string_view column,
                                          Communicator& comm, std::optional<double> value_if_none) {
  const TextHead text = read_whole(path, comm);
  std::vector<LabelValue> values;
  try {
    append_values(text, column, value_if_none, values);
  } catch (const InputError&) {
    const std::string kind = values.empty() ? other_kind(text) : "";
    if (kind.empty()) throw;
    throw InputError(text.name + ": expected lines with a label and a number, as .tsv and .csv have, found " +
                     kind);
  }
  if (values.empty())
    throw InputError(text.name + ": holds no labels, expected lines with a label and a number");
  return values;
}

std::vector<LabelValue> read_label_list(const std::string& path, Communicator& comm) {
  const TextHead text = read_whole(path, comm);
  std::vector<LabelValue> labels;
  // A delimiter that no line can hold: a label may have blanks and commas in it, and quotes as in CSV.
  LineFields fields('\n', true);
  for_each_line(text, [&](const HeadLine& line) {
    const std::string_view content = trimmed_line(line.text, 0);
    std::string label(content);
    if (content.starts_with('"') && *fields.split(content) == 0) label = std::string(fields[0]);
    labels.push_back({std::move(label), 0, line.number});
  });
  return labels;
}

std::vector<VertexId> find_labels(std::span<const std::string> labels, const LabelTable& table,
                                  Communicator& comm) {
  std::vector<std::uint64_t> found(labels.size());  // id + 1 on the rank that holds the label
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const VertexId id = table.find(labels[i]);
    found[i] = id == kNoVertex ? 0 : std::uint64_t{id} + 1;
  }
  comm.all_max(std::span<std::uint64_t>(found));
  std::vector<VertexId> ids(labels.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = found[i] == 0 ? kNoVertex : static_cast<VertexId>(found[i] - 1);
  return ids;
}

}  // namespace tessera
