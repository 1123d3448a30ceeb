#include "engine/io/format_probe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/io/cache_header.hpp"
#include "engine/io/column_choice.hpp"
#include "engine/io/konect_header.hpp"
#include "engine/io/line_fields.hpp"
#include "engine/io/matrix_market_header.hpp"
#include "engine/io/other_formats.hpp"
#include "engine/io/quoted_text.hpp"
#include "engine/label_table.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

namespace {

constexpr std::size_t kSampleLines = 200;

/// A cache that comes this far: found by its content, it would have been read as one.
void refuse_cache(const TextHead& head, const GraphOptions& options) {
  if (!head.text.starts_with(kCacheMagic)) return;
  throw InputError(head.name + (options.format == InputFormat::automatic
                                    ? ": a tessera cache, which can be neither compressed nor piped; unpack "
                                      "it into a file and give that"
                                    : ": a tessera cache, expected text; leave --format out"));
}

void refuse_binary(const TextHead& head) {
  using namespace std::string_view_literals;
  const std::string_view text = std::string_view(head.text).substr(0, 4096);
  // Before UTF-16, whose mark is the begin of this one.
  if (text.starts_with("\xFF\xFE\0\0"sv) || text.starts_with("\0\0\xFE\xFF"sv))
    throw InputError(head.name + ": UTF-32 text; convert it to UTF-8 (iconv -f UTF-32 -t UTF-8)");
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw InputError(head.name + ": UTF-16 text; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
  std::size_t zeros = 0, controls = 0;
  for (const char c : text) {
    zeros += c == 0;
    controls += c > 0 && c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b;
  }
  if ((zeros > 0 && controls > 0) || zeros * 4 > text.size() || controls * 20 > text.size() + 19)
    throw InputError(head.name + ": not a text file; expected lines with two labels, Matrix Market or CSV");
}

SampleLines sample_lines(const TextHead& head, std::size_t offset) {
  SampleLines sample;
  HeadLines lines(head, offset);
  for (HeadLine line; sample.size() < kSampleLines && lines.next(line);) {
    const std::string_view content = trimmed_line(line.text, 0);
    if (!content.empty() && !is_comment(content)) sample.push_back(line);
  }
  return sample;
}

/// Lines that split into two fields or more, the first two of them integers where `integers` asks for that.
std::size_t count_split_lines(const SampleLines& sample, char delimiter, bool integers) {
  LineFields fields(delimiter, delimiter != 0);
  return std::count_if(sample.begin(), sample.end(), [&](const HeadLine& line) {
    if (*fields.split(trimmed_line(line.text, delimiter)) != 0 || fields.size() < 2) return false;
    std::uint64_t value = 0;
    return !integers ||
           (parse_canonical_integer(fields[0], value) && parse_canonical_integer(fields[1], value));
  });
}

/// Whether every line is two fields apart by blanks that both hold `delimiter`: then it belongs to the
/// labels.
bool is_within_labels(const SampleLines& sample, char delimiter) {
  LineFields fields(0, false);
  return std::all_of(sample.begin(), sample.end(), [&](const HeadLine& line) {
    fields.split(trimmed_line(line.text, 0));
    return fields.size() == 2 && fields[0].find(delimiter) != std::string_view::npos &&
           fields[1].find(delimiter) != std::string_view::npos;
  });
}

/// Whether semicolons are apart what commas belong to: they cut every line into as many fields, and commas
/// are in none of the first two of these (but in weights like 0,5) or in both everywhere.
bool semicolons_come_first(const SampleLines& sample) {
  LineFields fields(';', true);
  std::size_t num_fields = 0, in_none = 0, in_both = 0;
  for (const HeadLine& line : sample) {
    if (*fields.split(trimmed_line(line.text, ';')) != 0 || fields.size() < 2) return false;
    if (num_fields != 0 && fields.size() != num_fields) return false;
    num_fields = fields.size();
    const auto commas =
        (fields[0].find(',') != std::string_view::npos) + (fields[1].find(',') != std::string_view::npos);
    in_none += commas == 0;
    in_both += commas == 2;
  }
  return in_none == sample.size() || in_both == sample.size();
}

/// 0 = white space. Two integers by white space decide first; then the delimiter that most lines have (not
/// all: a bad line is for the parser to report).
char find_delimiter(const SampleLines& sample, const GraphOptions& options) {
  if (options.delimiter) return *options.delimiter == ' ' ? 0 : *options.delimiter;
  if (options.format != InputFormat::csv && 2 * count_split_lines(sample, 0, true) >= sample.size()) return 0;
  const std::size_t by_blanks = count_split_lines(sample, 0, false);
  for (const char delimiter : {'\t', ',', ';', '|'}) {
    const std::size_t lines = count_split_lines(sample, delimiter, false);
    if (2 * lines <= sample.size() && lines <= by_blanks) continue;
    if (options.format != InputFormat::csv && is_within_labels(sample, delimiter)) continue;
    if (delimiter == ',' && semicolons_come_first(sample)) continue;
    return delimiter;
  }
  return options.format == InputFormat::csv ? ',' : 0;
}

void name_table(const GraphOptions& options, TextFormat& format) {
  format.format = options.format == InputFormat::csv ||
                          (options.format == InputFormat::automatic && format.delimiter != 0)
                      ? InputFormat::csv
                      : InputFormat::edge_list;
  format.quotes = format.format == InputFormat::csv;
  format.name = format.quotes ? (format.delimiter == '\t' ? "TSV" : "CSV") : "edge list";
}

void choose_labels(const SampleLines& sample, const GraphOptions& options, TextFormat& format) {
  format.integer_labels = options.labels == LabelChoice::integer;
  format.string_labels = options.labels == LabelChoice::string || format.bipartite;
  if (format.bipartite && format.integer_labels)
    throw OptionError("--labels int does not fit a bipartite KONECT file, whose two sides share numbers");
  if (format.integer_labels || format.string_labels) return;
  LineFields fields(format.delimiter, format.quotes);
  for (const HeadLine& line : sample) {
    if (line.next_offset <= format.body_offset) continue;
    fields.split(trimmed_line(line.text, format.delimiter));
    for (const std::size_t column : {format.source_column, format.target_column}) {
      std::uint64_t value = 0;
      if (column < fields.size() && !parse_canonical_integer(fields[column], value))
        format.string_labels = true;
    }
  }
}

TextFormat probe_table(const TextHead& head, const GraphOptions& options, std::string_view first,
                       bool konect) {
  const std::size_t mark = byte_order_mark_size(head.text);
  const SampleLines sample = sample_lines(head, mark);
  TextFormat format;
  format.body_offset = mark;
  format.weighted = options.weighted && !options.unweighted;
  format.undirected = options.undirected && !options.directed;
  if (konect) {
    refuse_column_options(options, "KONECT", true);
    format.delimiter = options.delimiter.value_or(0);
    LineFields fields(format.delimiter, false);
    if (!sample.empty()) fields.split(trimmed_line(sample[0].text, format.delimiter));
    apply_konect_header(first, sample.empty() ? 0 : fields.size(), options, format);
  } else {
    format.delimiter = find_delimiter(sample, options);
    name_table(options, format);
  }
  choose_columns(head, sample, options, format);
  choose_labels(sample, options, format);
  return format;
}

bool ends_with_mtx(std::string_view name) { return name.find(".mtx") != std::string_view::npos; }

}  // namespace

TextFormat probe_format(const TextHead& head, const GraphOptions& options) {
  refuse_cache(head, options);
  refuse_binary(head);
  const std::string_view first = first_content_of_text(head);
  const bool automatic = options.format == InputFormat::automatic;
  const bool banner = is_matrix_market_banner(first);
  const bool konect = is_konect_header(first);
  if (options.format == InputFormat::matrix_market && !banner)
    throw InputError(head.name + ":1: expected the banner \"%%MatrixMarket matrix coordinate ...\", found " +
                     quoted_text(first));
  if (options.format == InputFormat::konect && !konect)
    throw InputError(head.name + ":1: expected a KONECT header such as \"% asym unweighted\", found " +
                     quoted_text(first));
  TextFormat format;
  if (banner && (automatic || options.format == InputFormat::matrix_market)) {
    refuse_column_options(options, "Matrix Market", false);
    format = read_matrix_market_header(head, options);
    if (!ends_with_mtx(head.name)) format.notes.push_back("read as Matrix Market because of its banner");
  } else {
    if (automatic) refuse_other_formats(head);
    format =
        probe_table(head, options, first, konect && (automatic || options.format == InputFormat::konect));
    if (automatic && ends_with_mtx(head.name))
      format.notes.push_back("named .mtx but without a Matrix Market banner: read as " + format.name);
  }
  return format;
}

}  // namespace tessera
