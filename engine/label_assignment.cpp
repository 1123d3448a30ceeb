// See label_assignment.hpp. Integer labels that fill a good part of 0 .. largest are kept as a bit set;
// scattered ones and strings are made distinct on each rank and numbered together (label_numbering.hpp).
#include "engine/label_assignment.hpp"

#include <omp.h>
#include <tbb/parallel_sort.h>

#include <algorithm>

#include "engine/edge_source.hpp"
#include "engine/label_index.hpp"
#include "engine/label_numbering.hpp"
#include "engine/region_failure.hpp"
#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

constexpr std::int64_t kKeysPerPiece = 2 * static_cast<std::int64_t>(kEdgesPerPiece);

/// Runs body(keys, count, where) on pieces of all chunks' key arrays, in parallel; `where` is the position
/// in the chunk's array.
template <class Body>
void for_each_keys(const EdgeChunk& chunk, Body body) {
  auto pieces = [&](const auto& keys) {
    const auto size = static_cast<std::int64_t>(keys.size());
    RegionFailure failure;
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t begin = 0; begin < size; begin += kKeysPerPiece)
      failure.guard([&] {
        body(keys.data() + begin, static_cast<std::uint64_t>(std::min(kKeysPerPiece, size - begin)), begin);
      });
    failure.rethrow();
  };
  if (!chunk.wide_pairs.empty())
    pieces(chunk.wide_pairs);
  else
    pieces(chunk.pairs);
}

/// Replaces each key by find(keys, count, out, chunk), in place when keys have 32 bits.
template <class Find>
void rewrite_keys(ParsedEdges& parsed, Find find) {
  for (EdgeChunk& chunk : parsed.chunks) {
    Buffer<std::uint32_t> narrow;
    if (!chunk.wide_pairs.empty()) narrow = Buffer<std::uint32_t>(chunk.wide_pairs.size());
    std::uint32_t* out = narrow.empty() ? chunk.pairs.data() : narrow.data();
    for_each_keys(chunk, [&](const auto* keys, std::uint64_t count, std::int64_t begin) {
      find(chunk, keys, count, out + begin);
    });
    if (narrow.empty()) continue;
    release_pages(chunk.wide_pairs.data(), chunk.wide_pairs.size_bytes());
    chunk.wide_pairs = {};
    chunk.pairs = std::move(narrow);
  }
}

void require_keys_below(const ParsedEdges& parsed, std::uint64_t limit) {
  bool fits = true;
  for (const EdgeChunk& chunk : parsed.chunks)
    for_each_keys(chunk, [&](const auto* keys, std::uint64_t count, std::int64_t) {
      std::uint64_t largest = 0;
      for (std::uint64_t i = 0; i < count; ++i) largest = std::max<std::uint64_t>(largest, keys[i]);
      if (count > 0 && largest >= limit) __atomic_store_n(&fits, false, __ATOMIC_RELAXED);
    });
  require(fits, "build_graph: a key is out of the range that the reader declared");
}

LabelTable block_of(LabelKind kind, std::uint64_t num_vertices, Communicator& comm) {
  const auto boundaries = block_boundaries(num_vertices, comm.size());
  LabelTable table;
  table.kind = kind;
  table.first_id = static_cast<VertexId>(boundaries[comm.rank()]);
  table.count = boundaries[comm.rank() + 1] - boundaries[comm.rank()];
  return table;
}

void narrow_keys(ParsedEdges& parsed) {
  rewrite_keys(parsed, [](const EdgeChunk&, const auto* keys, std::uint64_t count, std::uint32_t* out) {
    if constexpr (sizeof(*keys) == 8) std::copy(keys, keys + count, out);
  });
}

LabelAssignment assign_range(ParsedEdges& parsed, Communicator& comm) {
  const std::uint64_t num_vertices = all_max(comm, parsed.declared_vertices);
  if (num_vertices > kMaxVertices)
    throw InputError("the file declares " + std::to_string(num_vertices) + " vertices; at most " +
                     std::to_string(kMaxVertices) + " are supported");
  run_together(comm, [&] {
    require_keys_below(parsed, num_vertices);
    narrow_keys(parsed);
  });
  LabelAssignment assignment;
  assignment.num_vertices = num_vertices;
  assignment.labels = block_of(LabelKind::range, num_vertices, comm);
  assignment.labels.first_label = parsed.first_label;
  return assignment;
}

/// The union of all ranks' sets: each rank joins one part, then all parts go to everybody.
void join_sets(KeySet& set, Communicator& comm) {
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  std::vector<std::uint64_t> words(set.num_blocks()), cuts, received_cuts, counts;
  for (std::uint64_t b = 0; b < words.size(); ++b) words[b] = set.bits(b);
  for (std::uint64_t r = 0; r <= ranks; ++r) cuts.push_back(words.size() * r / ranks);
  for (std::uint64_t r = 0; r < ranks; ++r) counts.push_back(cuts[r + 1] - cuts[r]);
  const auto parts = all_to_all(comm, std::span<const std::uint64_t>(words), cuts, received_cuts);
  std::vector<std::uint64_t> joined(counts[comm.rank()], 0);
  for (std::uint64_t i = 0; i < parts.size(); ++i) joined[i % joined.size()] |= parts[i];
  all_gather(comm, std::span<const std::uint64_t>(joined), std::span(words), counts);
  for (std::uint64_t b = 0; b < words.size(); ++b) set.set_bits(b, words[b]);
}

LabelAssignment assign_dense(ParsedEdges& parsed, std::uint64_t universe, Communicator& comm) {
  std::optional<KeySet> keys;
  run_together(comm, [&] {
    require_keys_below(parsed, universe);
    narrow_keys(parsed);
    keys.emplace(universe);
    for (const EdgeChunk& chunk : parsed.chunks)
      for_each_keys(chunk, [&](const auto* labels, std::uint64_t count, std::int64_t) {
        for (std::uint64_t i = 0; i < count; ++i) keys->insert(static_cast<std::uint32_t>(labels[i]));
      });
  });
  if (comm.size() > 1) join_sets(*keys, comm);
  keys->count_ranks();
  LabelAssignment assignment;
  assignment.num_vertices = keys->size();
  assignment.labels = block_of(LabelKind::integer, keys->size(), comm);
  run_together(comm, [&] {
    LabelTable& table = assignment.labels;
    table.integers = Buffer<std::uint64_t>(table.count);
    std::uint64_t* out = table.integers.data();
    keys->for_each(table.first_id, table.first_id + table.count,
                   [&](std::uint64_t label) { *out++ = label; });
    if (comm.size() == 1) return;
    rewrite_keys(parsed,
                 [&](const EdgeChunk&, const auto* labels, std::uint64_t count, std::uint32_t* out_ids) {
                   if constexpr (sizeof(*labels) == 4) keys->ranks(labels, count, out_ids);
                 });
  });
  if (comm.size() == 1) assignment.keys = std::move(keys);
  return assignment;
}

IntegerList distinct_integers(const ParsedEdges& parsed) {
  std::vector<LabelSet> sets(std::max(1, omp_get_max_threads()));
  for (const EdgeChunk& chunk : parsed.chunks)
    for_each_keys(chunk, [&](const auto* keys, std::uint64_t count, std::int64_t) {
      LabelSet& set = sets[omp_get_thread_num()];
      for (std::uint64_t i = 0; i < count; ++i) set.insert(keys[i]);
    });
  IntegerList labels;
  for (LabelSet& set : sets) {
    const IntegerList more = set.take();
    labels.insert(labels.end(), more.begin(), more.end());
  }
  tbb::parallel_sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  labels.shrink_to_fit();
  return labels;
}

LabelAssignment assign_sparse(ParsedEdges& parsed, Communicator& comm) {
  IntegerList mine;
  run_together(comm, [&] { mine = distinct_integers(parsed); });
  // With one rank the list itself becomes the block of labels.
  LabelNumbering<IntegerList> numbering =
      number_labels(comm.size() == 1 ? std::move(mine) : IntegerList(mine), comm);
  LabelAssignment assignment;
  assignment.num_vertices = numbering.num_vertices;
  assignment.labels = block_of(LabelKind::integer, numbering.num_vertices, comm);
  run_together(comm, [&] {
    const LabelIndex index(comm.size() == 1 ? numbering.block : mine, numbering.ids);
    rewrite_keys(parsed, [&](const EdgeChunk&, const auto* keys, std::uint64_t count, std::uint32_t* out) {
      index.find(keys, count, out);
    });
    assignment.labels.integers = Buffer<std::uint64_t>(numbering.block.size());
    std::copy(numbering.block.begin(), numbering.block.end(), assignment.labels.integers.begin());
  });
  return assignment;
}

LabelAssignment assign_integers(ParsedEdges& parsed, Communicator& comm) {
  std::uint64_t num_edges = 0;
  for (const EdgeChunk& chunk : parsed.chunks) num_edges += chunk.num_edges();
  const std::uint64_t all_edges = all_sum(comm, num_edges), max_key = all_max(comm, parsed.max_key);
  // The set costs a quarter of a byte a possible key on every rank: at most two bytes for each edge held.
  const std::uint64_t limit = 8 * all_edges / static_cast<std::uint64_t>(comm.size()) + (1u << 20);
  if (max_key < std::min<std::uint64_t>(limit, kMaxVertices))
    return assign_dense(parsed, all_edges == 0 ? 0 : max_key + 1, comm);
  return assign_sparse(parsed, comm);
}

/// A string of one of the dictionaries; its first bytes as a number decide most comparisons.
struct StringPlace {
  std::uint64_t prefix;
  std::string_view text;
  std::uint32_t dictionary, key;
  bool operator<(const StringPlace& other) const {
    return prefix != other.prefix ? prefix < other.prefix : text < other.text;
  }
};

std::uint64_t prefix_of(std::string_view text) {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < 8; ++i)
    prefix = prefix << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0);
  return prefix;
}

/// Sorted distinct strings of all dictionaries; places[d][key] is where a string is among them.
StringList distinct_strings(const std::vector<StringDictionary>& dictionaries,
                            std::vector<std::vector<VertexId>>& places) {
  std::vector<StringPlace> all;
  for (std::uint32_t d = 0; d < dictionaries.size(); ++d) {
    const std::uint64_t size = dictionaries[d].size();
    if (size > kMaxVertices)
      throw InputError("more than " + std::to_string(kMaxVertices) + " different labels");
    places.emplace_back(size);
    for (std::uint64_t k = 0; k < size; ++k) {
      const std::string_view text = dictionaries[d].text(k);
      all.push_back({prefix_of(text), text, d, static_cast<std::uint32_t>(k)});
    }
  }
  tbb::parallel_sort(all.begin(), all.end());
  StringList distinct;
  std::string_view last;
  for (const StringPlace& place : all) {
    if (distinct.size() == 0 || place.text != last) {
      last = place.text;
      distinct.bytes += last;
      distinct.offsets.push_back(distinct.bytes.size());
    }
    places[place.dictionary][place.key] = static_cast<VertexId>(distinct.size() - 1);
  }
  return distinct;
}

LabelAssignment assign_strings(ParsedEdges& parsed, Communicator& comm) {
  std::vector<std::vector<VertexId>> places;
  StringList mine;
  run_together(comm, [&] {
    mine = distinct_strings(parsed.dictionaries, places);
    parsed.dictionaries.clear();
  });
  const LabelNumbering<StringList> numbering = number_labels(std::move(mine), comm);
  LabelAssignment assignment;
  assignment.num_vertices = numbering.num_vertices;
  assignment.labels = block_of(LabelKind::string, numbering.num_vertices, comm);
  run_together(comm, [&] {
    for (auto& dictionary : places)
      for (VertexId& place : dictionary) place = numbering.ids[place];
    rewrite_keys(parsed,
                 [&](const EdgeChunk& chunk, const auto* keys, std::uint64_t count, std::uint32_t* out) {
                   const std::vector<VertexId>& ids = places[chunk.dictionary];
                   for (std::uint64_t i = 0; i < count; ++i) out[i] = ids[keys[i]];
                 });
    const StringList& block = numbering.block;
    assignment.labels.string_offsets = Buffer<std::uint64_t>(block.offsets.size());
    assignment.labels.string_bytes = Buffer<char>(block.bytes.size());
    std::copy(block.offsets.begin(), block.offsets.end(), assignment.labels.string_offsets.begin());
    std::copy(block.bytes.begin(), block.bytes.end(), assignment.labels.string_bytes.begin());
  });
  return assignment;
}

}  // namespace

LabelAssignment assign_labels(ParsedEdges& parsed, Communicator& comm) {
  switch (parsed.kind) {
    case LabelKind::range:
      return assign_range(parsed, comm);
    case LabelKind::integer:
      return assign_integers(parsed, comm);
    case LabelKind::string:
      break;
  }
  return assign_strings(parsed, comm);
}

}  // namespace tessera
