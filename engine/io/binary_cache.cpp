#include "engine/io/binary_cache.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>

#include "engine/io/atomic_file.hpp"
#include "engine/io/cache_checksum.hpp"
#include "engine/io/cache_facts.hpp"
#include "engine/io/cache_header.hpp"
#include "engine/io/cache_rules.hpp"
#include "engine/io/cache_validation.hpp"
#include "engine/io/input_file.hpp"
#include "engine/io/mapped_file.hpp"
#include "engine/io/piece_stream.hpp"
#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

/// This rank's part of a section. Positions are counted from `base` on in the file.
struct SectionPart {
  const void* data = nullptr;
  std::uint64_t num_bytes = 0;
  std::uint64_t base = 0;  ///< added to each 64-bit element when not 0
};

template <class T>
SectionPart part_of(const Buffer<T>& buffer) {
  return {buffer.data(), buffer.size_bytes(), 0};
}

/// Offsets without the last, which is the next rank's first; the last rank keeps it.
SectionPart offsets_part(const Buffer<std::uint64_t>& offsets, std::uint64_t base, bool last_rank) {
  if (offsets.empty()) return {};
  return {offsets.data(), (offsets.size() - (last_rank ? 0 : 1)) * sizeof(std::uint64_t), base};
}

/// Sum of `value` over the ranks before this one.
std::uint64_t sum_before(std::uint64_t value, Communicator& comm) {
  const std::vector<std::uint64_t> values = all_gather(comm, value);
  std::uint64_t sum = 0;
  for (int rank = 0; rank < comm.rank(); ++rank) sum += values[rank];
  return sum;
}

void append_part(std::string& piece, const SectionPart& part, std::uint64_t& position) {
  constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20;
  const std::uint64_t count = std::min(kPieceBytes, part.num_bytes - position);
  const std::size_t start = piece.size();
  piece.append(static_cast<const char*>(part.data) + position, count);
  position += count;
  for (std::size_t at = start; part.base != 0 && at < piece.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t element = 0;
    std::memcpy(&element, piece.data() + at, sizeof element);
    element += part.base;
    std::memcpy(piece.data() + at, &element, sizeof element);
  }
}

CacheHeader make_header(const Graph& graph, std::uint64_t label_bytes, std::uint64_t facts_bytes) {
  CacheHeader header;
  std::copy(kCacheMagic.begin(), kCacheMagic.end(), header.magic.begin());
  header.num_vertices = graph.num_vertices;
  header.num_edges = graph.num_edges;
  header.flags = (graph.weighted ? CacheHeader::kWeightedFlag : 0) |
                 (graph.facts.undirected ? CacheHeader::kUndirectedFlag : 0) |
                 (graph.facts.reversed ? CacheHeader::kReversedFlag : 0);
  header.label_kind = graph.labels.kind;
  header.first_label = graph.labels.kind == LabelKind::range ? graph.labels.first_label : 0;
  header.duplicates = static_cast<std::uint32_t>(graph.facts.duplicates);
  lay_out_cache(header, label_bytes, facts_bytes);
  return header;
}

/// Parts of the sections in file order, facts from rank 0.
std::array<SectionPart, kNumCacheSections> section_parts(const Graph& graph, const std::string& facts,
                                                         Communicator& comm) {
  const bool last_rank = comm.rank() + 1 == comm.size();
  const LabelTable& labels = graph.labels;
  std::array<SectionPart, kNumCacheSections> parts;
  parts[kRowOffsets] = offsets_part(graph.row_offsets, sum_before(graph.col_indices.size(), comm), last_rank);
  parts[kColIndices] = part_of(graph.col_indices);
  if (graph.weighted) parts[kWeights] = part_of(graph.weights);
  if (labels.kind == LabelKind::integer) parts[kLabelIntegers] = part_of(labels.integers);
  const std::uint64_t label_base = sum_before(labels.string_bytes.size(), comm);
  if (labels.kind == LabelKind::string) {
    parts[kLabelOffsets] = offsets_part(labels.string_offsets, label_base, last_rank);
    parts[kLabelBytes] = part_of(labels.string_bytes);
  }
  if (comm.is_root()) parts[kFacts] = {facts.data(), facts.size(), 0};
  return parts;
}

/// A file written front to back that knows its position; the header comes last.
class PaddedFile {
 public:
  explicit PaddedFile(const std::string& path) : file_(path) {}
  std::uint64_t position() const { return position_; }
  void write(std::string_view bytes) {
    file_.write(bytes);
    position_ += bytes.size();
  }
  void pad_to(std::uint64_t position) { write(std::string(position - position_, '\0')); }
  void commit(std::string_view header) {
    file_.write_at(0, header);
    file_.commit();
  }

 private:
  AtomicFile file_;
  std::uint64_t position_ = 0;
};

/// All ranks' parts in rank order; sets the section's checksum on rank 0, which has `file`. Collective.
void write_section(CacheSection& section, const SectionPart& part, std::optional<PaddedFile>& file,
                   Communicator& comm) {
  std::uint64_t position = 0;
  SectionHasher hasher;
  const auto produce = [&](std::string& piece) { append_part(piece, part, position); };
  concatenate_pieces(comm, produce, [&](std::string_view bytes) {
    if (section.offset > file->position()) file->pad_to(section.offset);
    file->write(bytes);
    hasher.add(bytes);
  });
  section.checksum = hasher.finish();
  run_together(comm, [&] {
    // Else the graph's arrays disagree with its counts: a fault of whoever built it.
    const std::uint64_t end = section.offset + section.length;
    if (file) require(file->position() == end, "a cache section has an unexpected length");
  });
}

Buffer<std::uint64_t> rebased(const std::uint64_t* offsets, std::uint64_t count) {
  Buffer<std::uint64_t> result(count);
  for (std::uint64_t i = 0; i < count; ++i) result[i] = offsets[i] - offsets[0];
  return result;
}

/// Windows on the mapping; offsets are copied where they do not start at 0.
class CacheBlock {
 public:
  CacheBlock(std::shared_ptr<MappedFile> file, const CacheHeader& header, std::uint64_t first,
             std::uint64_t last)
      : file_(std::move(file)), header_(header), first_(first), last_(last) {}

  MappedRows mapped_rows() const {
    const std::uint64_t num_vertices = header_.num_vertices, num_edges = header_.num_edges;
    MappedRows rows;
    rows.row_offsets = Buffer<EdgeOffset>(file_, start<EdgeOffset>(kRowOffsets), num_vertices + 1);
    rows.col_indices = window<VertexId>(kColIndices, 0, num_edges);
    if (header_.weighted()) rows.weights = window<double>(kWeights, 0, num_edges);
    return rows;
  }

  Graph graph() const {
    Graph graph;
    graph.num_vertices = header_.num_vertices;
    graph.num_edges = header_.num_edges;
    graph.weighted = header_.weighted();
    graph.first_row = static_cast<VertexId>(first_);
    graph.num_local_rows = last_ - first_;
    const EdgeOffset* rows = start<EdgeOffset>(kRowOffsets);
    graph.row_offsets = offsets(rows);
    graph.col_indices = window<VertexId>(kColIndices, rows[first_], rows[last_]);
    if (graph.weighted) graph.weights = window<double>(kWeights, rows[first_], rows[last_]);
    graph.labels = labels();
    return graph;
  }

 private:
  template <class T>
  T* start(CacheSectionKind kind) const {
    // Buffer holds T*, as it also owns memory; the mapping itself is read-only.
    const char* data = file_->bytes().data() + header_.sections[kind].offset;
    return reinterpret_cast<T*>(const_cast<char*>(data));
  }
  template <class T>
  Buffer<T> window(CacheSectionKind kind, std::uint64_t begin, std::uint64_t end) const {
    return Buffer<T>(file_, start<T>(kind) + begin, end - begin);
  }
  Buffer<std::uint64_t> offsets(const std::uint64_t* all) const {
    const std::uint64_t count = last_ - first_ + 1;
    if (all[first_] != 0) return rebased(all + first_, count);
    return Buffer<std::uint64_t>(file_, const_cast<std::uint64_t*>(all) + first_, count);
  }
  LabelTable labels() const {
    LabelTable table;
    table.kind = header_.label_kind;
    table.first_label = header_.first_label;
    table.first_id = static_cast<VertexId>(first_);
    table.count = last_ - first_;
    if (table.kind == LabelKind::integer)
      table.integers = window<std::uint64_t>(kLabelIntegers, first_, last_);
    if (table.kind == LabelKind::string) {
      const std::uint64_t* all = start<std::uint64_t>(kLabelOffsets);
      table.string_offsets = offsets(all);
      table.string_bytes = window<char>(kLabelBytes, all[first_], all[last_]);
    }
    return table;
  }

  std::shared_ptr<MappedFile> file_;
  const CacheHeader& header_;
  std::uint64_t first_, last_;
};

GraphFacts read_facts(std::string_view file, const CacheHeader& header, const std::string& path) {
  const CacheSection& section = header.sections[kFacts];
  GraphFacts facts = facts_from_json(file.substr(section.offset, section.length), path);
  facts.undirected = header.undirected();
  facts.reversed = header.reversed();
  facts.duplicates = static_cast<Duplicates>(header.duplicates);
  if (facts.format != "tessera cache") {
    facts.notes.push_back("the cache was made from: " + facts.format + ", compression " + facts.compression);
    facts.format = "tessera cache";
    facts.compression = "none";
  }
  return facts;
}

}  // namespace

bool is_binary_cache(const std::string& path) {
  if (path == "-" || !is_regular_file(path)) return false;
  std::array<char, kCacheMagic.size()> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) == kCacheMagic;
}

void write_binary_cache(const Graph& graph, const std::string& path, Communicator& comm) {
  if (path == "-")
    throw OptionError("a cache needs a file name: it is mapped when read, which a pipe cannot be");
  const std::string facts = facts_to_json(graph.facts);
  CacheHeader header = make_header(graph, all_sum(comm, graph.labels.string_bytes.size()), facts.size());
  const auto parts = section_parts(graph, facts, comm);
  std::optional<PaddedFile> file;  // on rank 0
  run_together(comm, [&] {
    if (!comm.is_root()) return;
    file.emplace(path);
    file->pad_to(kCacheHeaderBytes);
  });
  for (std::size_t kind = 0; kind < kNumCacheSections; ++kind)
    if (header.sections[kind].length != 0) write_section(header.sections[kind], parts[kind], file, comm);
  run_together(comm, [&] {
    if (!file) return;
    header.checksum = cache_header_checksum(header);
    file->commit({reinterpret_cast<const char*>(&header), sizeof header});
  });
}

Graph read_binary_cache(const GraphOptions& options, Communicator& comm) {
  const std::string& path = options.path;
  std::shared_ptr<MappedFile> file;
  CacheHeader header;
  run_together(comm, [&] {
    file = std::make_shared<MappedFile>(path);
    header = read_cache_header(file->bytes().substr(0, kCacheHeaderBytes), file->bytes().size(), path);
  });
  if (!all_same(comm, header.checksum))
    throw InputError(path + ": not the same file on every machine of the run");
  const std::vector<std::uint64_t> blocks = block_boundaries(header.num_vertices, comm.size());
  const CacheRows rows{blocks[comm.rank()], blocks[comm.rank() + 1]};
  validate_cache(file->bytes(), header, rows, path, comm);
  const std::uint64_t identity = file->identity();
  const bool all_have_all = comm.size() > 1 && all_same(comm, identity) && identity != 0;
  Graph graph;
  run_together(comm, [&] {
    const CacheBlock block(file, header, rows.first, rows.last);
    graph = block.graph();
    if (all_have_all) graph.mapped = {std::make_shared<const MappedRows>(block.mapped_rows())};
    graph.facts = read_facts(file->bytes(), header, path);
    check_cache_options(options, graph.weighted, graph.labels.kind, graph.facts);
    file->check_unchanged();
  });
  return apply_cache_options(std::move(graph), options, comm);
}

}  // namespace tessera
