#include "engine/io/edge_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/io/format_probe.hpp"
#include "engine/io/matrix_market_header.hpp"
#include "engine/io/open_input.hpp"
#include "engine/io/parse_blocks.hpp"
#include "engine/io/same_file.hpp"
#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {

namespace {

/// What rank 0 found out about the input, known to all.
struct SharedHead {
  TextHead head;
  std::string compression;
  bool plain = false;
};

SharedHead share_head(const std::optional<OpenInput>& input, TextHead head, Communicator& comm) {
  std::string facts, name = head.name;
  if (comm.is_root())
    facts = fmt::format("{} {} {} {}", static_cast<int>(input->is_plain()), static_cast<int>(head.complete),
                        head.total_bytes, input->compression);
  comm.broadcast(facts, 0);
  comm.broadcast(name, 0);
  comm.broadcast(head.text, 0);
  SharedHead shared;
  shared.plain = facts[0] == '1';
  const std::size_t end = facts.find(' ', 4);
  shared.head = {std::move(name), std::move(head.text), facts[2] == '1',
                 std::stoull(facts.substr(4, end - 4))};
  shared.compression = facts.substr(end + 1);
  return shared;
}

std::unique_ptr<BlockSource> block_source(const SharedHead& shared, const TextFormat& format,
                                          const InputFile* file, OpenInput* stream, Communicator& comm,
                                          const ReadTuning& tuning) {
  if (!shared.plain)
    return std::make_unique<StreamBlockSource>(*stream->text, format.body_offset, format.body_line - 1,
                                               tuning.block_bytes);
  const std::uint64_t size = shared.head.total_bytes, first = std::min(format.body_offset, size);
  const auto cut = [&](int rank) {  // without the overflow of (size - first) * rank
    const std::uint64_t ranks = comm.size(), share = (size - first) / ranks, rest = (size - first) % ranks;
    return first + share * rank + rest * rank / ranks;
  };
  return std::make_unique<FileBlockSource>(*file, first, cut(comm.rank()), cut(comm.rank() + 1),
                                           tuning.block_bytes);
}

LabelMode first_mode(const TextFormat& format) {
  if (format.is_matrix) return LabelMode::range;
  return format.string_labels ? LabelMode::string : LabelMode::integer;
}

/// The file that this rank reads its part of, the same for all; opens it as `own` where there is no `input`.
/// Of an input that rank 0 reads alone, its file. Collective.
const InputFile* file_of_share(const SharedHead& shared, const std::string& path,
                               const std::optional<OpenInput>& input, std::optional<InputFile>& own,
                               Communicator& comm) {
  if (shared.plain) {
    run_together(comm, [&] {
      if (!input) own.emplace(path);
    });
    check_same_file(input ? *input->file : *own, comm);
  }
  return input ? input->file.get() : own ? &*own : nullptr;
}

/// This rank's part of the body; `own` is its file, of which there is none when rank 0 reads alone.
ParsedBlocks parse_share(const SharedHead& shared, const TextFormat& format, const InputFile* own,
                         std::optional<OpenInput>& input, Communicator& comm, const ReadProgress& progress,
                         const ReadTuning& tuning) {
  if (own == nullptr) return {};
  const InputFile& file = *own;
  const auto source = block_source(shared, format, &file, input ? &*input : nullptr, comm, tuning);
  std::function<bool()> step;
  if (progress) {
    const std::uint64_t total = shared.plain ? shared.head.total_bytes / comm.size() : file.size_bytes();
    const FileSource* raw = shared.plain ? nullptr : input->raw;
    step = [&progress, &source, raw, total] {
      return progress(raw ? raw->bytes_done() : source->bytes_done(), total);
    };
  }
  ParsedBlocks blocks = parse_blocks(*source, format, shared.head.name, first_mode(format), tuning, step);
  file.check_unchanged();
  return blocks;
}

std::uint64_t count_edges(const ParsedBlocks& blocks) {
  std::uint64_t edges = 0;
  for (const EdgeChunk& chunk : blocks.chunks) edges += chunk.num_edges();
  return edges;
}

std::uint64_t largest_key(const ParsedBlocks& blocks) {
  std::uint64_t largest = 0;
  const auto of = [](const auto& keys) {
    std::uint64_t top = 0;
    for (const auto key : keys) top = std::max<std::uint64_t>(top, key);
    return top;
  };
#pragma omp parallel for schedule(dynamic) reduction(max : largest)
  for (std::size_t c = 0; c < blocks.chunks.size(); ++c)
    largest = std::max({largest, of(blocks.chunks[c].pairs), of(blocks.chunks[c].wide_pairs)});
  return largest;
}

std::string label_choice_text(const TextFormat& format, LabelKind kind) {
  if (kind == LabelKind::range) return fmt::format("range (1 to {}, declared)", format.matrix_size);
  if (kind == LabelKind::integer)
    return format.integer_labels ? "integer (as asked)" : "integer (all labels are canonical integers)";
  if (format.bipartite) return "string (two sides: prefix L and R)";
  return "string";
}

/// Everything but the chunks; counts are of this rank, texts the same on all.
void fill_facts(const SharedHead& shared, const TextFormat& format, const ParsedBlocks& blocks,
                std::uint64_t extra_columns_everywhere, ParsedEdges& parsed) {
  GraphFacts& facts = parsed.facts;
  facts.lines_read = blocks.counts.lines;
  facts.zero_weights = blocks.counts.zero_weights;
  facts.extra_columns = blocks.counts.extra_columns;
  facts.format = format.name;
  facts.compression = shared.compression;
  facts.label_choice = label_choice_text(format, parsed.kind);
  facts.undirected = parsed.undirected;
  facts.reversed = parsed.reverse;
  facts.notes = format.notes;
  if (extra_columns_everywhere != 0)
    facts.notes.push_back(fmt::format(
        "{} more than {} columns; what is behind them is ignored{}",
        extra_columns_everywhere == 1 ? "1 line has" : fmt::format("{} lines have", extra_columns_everywhere),
        format.columns_used(), format.weighted ? "" : " (--weighted reads weights)"));
}

}  // namespace

ParsedEdges read_edges(const GraphOptions& options, Communicator& comm, const ReadProgress& progress,
                       const ReadTuning& tuning) {
  std::optional<OpenInput> input;
  TextHead head;
  run_together(comm, [&] {
    if (!comm.is_root()) return;
    input.emplace(open_input(options.path, options.archive_member));
    head = read_head(*input);
  });
  const SharedHead shared = share_head(input, std::move(head), comm);
  const TextFormat format = probe_format(shared.head, options);  // the same on all ranks, errors too
  if (format.is_matrix && options.check_declared_nodes) options.check_declared_nodes(format.matrix_size);
  std::optional<InputFile> own;
  const InputFile* const file = file_of_share(shared, options.path, input, own, comm);
  ParsedBlocks blocks;
  run_together(comm, [&] { blocks = parse_share(shared, format, file, input, comm, progress, tuning); });

  const bool strings = all_max(comm, std::uint64_t{blocks.any_strings || format.string_labels}) != 0;
  if (strings) run_together(comm, [&] { convert_to_strings(blocks, tuning); });
  ParsedEdges parsed;
  parsed.kind = format.is_matrix ? LabelKind::range : strings ? LabelKind::string : LabelKind::integer;
  parsed.facts.edges_read = count_edges(blocks);
  const std::uint64_t num_entries = all_sum(comm, parsed.facts.edges_read);
  if (format.is_matrix)
    check_matrix_market_entries(shared.head.name, format.body_line - 1, format.matrix_entries, num_entries);
  if (parsed.kind == LabelKind::integer) parsed.max_key = largest_key(blocks);
  parsed.weighted = format.weighted;
  parsed.undirected = format.undirected;
  parsed.reverse = options.reverse;
  parsed.first_label = format.is_matrix ? 1 : 0;
  parsed.declared_vertices = format.matrix_size;
  fill_facts(shared, format, blocks, all_sum(comm, blocks.counts.extra_columns), parsed);
  parsed.chunks = std::move(blocks.chunks);
  if (strings) parsed.dictionaries = std::move(blocks.dictionaries);
  return parsed;
}

}  // namespace tessera
