#include "engine/io/column_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "engine/io/line_fields.hpp"
#include "engine/io/quoted_text.hpp"
#include "engine/label_table.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

namespace {

using Names = std::vector<std::string>;

std::string plain_lower(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != '_' && c != ' ' && c != '-')
      result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

std::optional<std::size_t> find_name(const Names& names, std::string_view wanted) {
  const auto exact = std::find(names.begin(), names.end(), wanted);
  if (exact != names.end()) return exact - names.begin();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (plain_lower(names[i]) == plain_lower(wanted)) return i;
  return std::nullopt;
}

std::string listed(const Names& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

// Usual names of the two ends of an edge, without case, blanks and underscores.
struct EndNames {
  std::size_t source, target;
};
std::optional<EndNames> find_end_names(const Names& names) {
  static constexpr std::string_view kPairs[][2] = {
      {"source", "target"}, {"src", "dst"},           {"from", "to"},         {"source", "destination"},
      {"src", "dest"},      {"node1", "node2"},       {"id1", "id2"},         {"fromnodeid", "tonodeid"},
      {"fromid", "toid"},   {"sourceid", "targetid"}, {"fromnode", "tonode"}, {"u", "v"}};
  for (const auto& [source, target] : kPairs) {
    const auto s = find_name(names, source), t = find_name(names, target);
    if (s && t) return EndNames{*s, *t};
  }
  return std::nullopt;
}

std::vector<std::string> split_option(const std::string& text) {
  LineFields parts(',', true);
  if (*parts.split(text) != 0 || parts.size() < 2 || parts.size() > 3)
    throw OptionError("--columns " + quoted_text(text) + ": expected SOURCE,TARGET or SOURCE,TARGET,WEIGHT");
  std::vector<std::string> result;
  for (std::size_t i = 0; i < parts.size(); ++i) result.emplace_back(parts[i]);
  return result;
}

std::optional<std::size_t> column_number(const std::string& text) {
  std::uint64_t number = 0;
  if (!parse_canonical_integer(text, number)) return std::nullopt;
  if (number == 0 || number > 65536)
    throw OptionError("--columns: column numbers are from 1 to 65536, found " + text);
  return static_cast<std::size_t>(number - 1);
}

Names fields_of(const HeadLine& line, const TextFormat& format) {
  LineFields fields(format.delimiter, format.quotes);
  fields.split(trimmed_line(line.text, format.delimiter));
  Names names;
  for (std::size_t i = 0; i < fields.size(); ++i) names.emplace_back(fields[i]);
  return names;
}

bool label_columns_are_integers(const Names& fields, const TextFormat& format, bool want) {
  for (const std::size_t column : {format.source_column, format.target_column}) {
    std::uint64_t value = 0;
    if (column >= fields.size() || parse_canonical_integer(fields[column], value) != want) return false;
  }
  return true;
}

/// Such as -5, 007 or 1.5: a label, but no column is called that.
bool reads_as_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && end == text.data() + text.size() && error != std::errc::invalid_argument;
}

/// Usual names of weights, without case, blanks and underscores.
constexpr std::string_view kWeightNames[] = {"weight", "weights", "w", "value", "count"};

bool is_weight_name(const std::string& name) {
  return std::find(std::begin(kWeightNames), std::end(kWeightNames), plain_lower(name)) !=
         std::end(kWeightNames);
}

bool looks_like_header(const SampleLines& sample, const Names& first, const TextFormat& format) {
  if (find_end_names(first)) return true;
  if (format.weighted && format.weight_column < first.size() && is_weight_name(first[format.weight_column]))
    return true;
  if (sample.size() < 2 || !label_columns_are_integers(first, format, false)) return false;
  for (const std::size_t column : {format.source_column, format.target_column})
    if (reads_as_number(first[column])) return false;
  return std::all_of(sample.begin() + 1, sample.end(), [&](const HeadLine& line) {
    return label_columns_are_integers(fields_of(line, format), format, true);
  });
}

// --columns; returns whether names were used. Sets columns given by number, leaves those by name.
void set_columns(const std::vector<std::string>& wanted, const Names* header, const TextHead& head,
                 std::uint64_t line, TextFormat& format) {
  std::size_t* const columns[] = {&format.source_column, &format.target_column, &format.weight_column};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (const auto number = column_number(wanted[i])) {
      *columns[i] = *number;
    } else if (header != nullptr) {
      const auto found = find_name(*header, wanted[i]);
      if (!found)
        fail_at_line(
            head, line,
            fmt::format("no column is named {}; the header has {}", quoted_text(wanted[i]), listed(*header)));
      *columns[i] = *found;
    }
  }
}

/// Where a header is there and no option says which column weighs: one of a usual name, but for the ends.
void find_weight_column(const Names& names, TextFormat& format) {
  for (const std::string_view wanted : kWeightNames)
    for (std::size_t i = 0; i < names.size(); ++i)
      if (plain_lower(names[i]) == wanted && i != format.source_column && i != format.target_column) {
        format.weight_column = i;
        return;
      }
}

bool weighs_an_end(const TextFormat& format) {
  return format.weighted &&
         (format.weight_column == format.source_column || format.weight_column == format.target_column);
}

void check_ends_differ(const GraphOptions& options, const TextFormat& format) {
  if (format.source_column == format.target_column)
    throw OptionError("--columns " + quoted_text(options.columns) +
                      ": source and target are the same column, expected two, as in 1,2");
}

void check_weight_is_no_end(const GraphOptions& options, const TextFormat& format) {
  if (weighs_an_end(format))
    throw OptionError(
        fmt::format("--columns {}: column {} would be the weight, too; name the column of "
                    "weights, as in 1,2,3",
                    quoted_text(options.columns), format.weight_column + 1));
}

}  // namespace

void refuse_column_options(const GraphOptions& options, const std::string& format, bool has_choice) {
  if (options.header == HeaderLine::yes)
    throw OptionError("--header yes does not fit " + format + ", which has no line of column names");
  if (!has_choice && !options.columns.empty())
    throw OptionError("--columns does not fit " + format +
                      ", whose columns mean what they mean; --reverse turns edges round");
}

void choose_columns(const TextHead& head, const SampleLines& sample, const GraphOptions& options,
                    TextFormat& format) {
  const std::vector<std::string> wanted =
      options.columns.empty() ? std::vector<std::string>{} : split_option(options.columns);
  const bool by_name =
      std::any_of(wanted.begin(), wanted.end(), [](const std::string& w) { return !column_number(w); });
  if (by_name && options.header == HeaderLine::no)
    throw OptionError("--columns has names, so the file must have a header line; --header no contradicts");
  set_columns(wanted, nullptr, head, 0, format);
  if (!by_name) check_ends_differ(options, format);
  if (wanted.size() == 3 && !options.unweighted) format.weighted = true;
  if (sample.empty()) return;

  const Names first = fields_of(sample[0], format);
  const bool header = by_name || options.header == HeaderLine::yes ||
                      (options.header == HeaderLine::automatic && looks_like_header(sample, first, format));
  if (!header) return check_weight_is_no_end(options, format);
  format.body_offset = sample[0].next_offset;
  format.body_line = sample[0].number + 1;
  if (!wanted.empty()) {
    set_columns(wanted, &first, head, sample[0].number, format);
    check_ends_differ(options, format);
  } else if (const auto ends = find_end_names(first)) {
    format.source_column = ends->source;
    format.target_column = ends->target;
  }
  if (wanted.size() < 3) find_weight_column(first, format);
  if (wanted.empty() && weighs_an_end(format))
    throw InputError(
        fmt::format("{}:{}: no column is named weight; the header has {}; name the columns, as in "
                    "--columns SOURCE,TARGET,WEIGHT",
                    head.name, sample[0].number, listed(first)));
  check_weight_is_no_end(options, format);
  std::string used = quoted_text(format.source_column < first.size() ? first[format.source_column] : "") +
                     " -> " +
                     quoted_text(format.target_column < first.size() ? first[format.target_column] : "");
  format.notes.push_back(fmt::format("line {} is a header: edges are {}", sample[0].number, used));
}

}  // namespace tessera
