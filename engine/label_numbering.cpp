// See label_numbering.hpp.
#include "engine/label_numbering.hpp"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <numeric>

#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

using Offsets = std::vector<std::uint64_t>;

/// Labels list[cuts[r], cuts[r + 1]) go to rank r; the result is in rank order.
IntegerList exchange(const IntegerList& list, const Offsets& cuts, Offsets& received_cuts,
                     Communicator& comm) {
  const auto received = all_to_all(comm, std::span<const std::uint64_t>(list), cuts, received_cuts);
  return {received.begin(), received.end()};
}

StringList exchange(const StringList& list, const Offsets& cuts, Offsets& received_cuts, Communicator& comm) {
  std::vector<std::uint64_t> lengths(list.size());
  for (std::uint64_t i = 0; i < list.size(); ++i) lengths[i] = list.offsets[i + 1] - list.offsets[i];
  const auto received_lengths =
      all_to_all(comm, std::span<const std::uint64_t>(lengths), cuts, received_cuts);
  Offsets byte_cuts, received_byte_cuts;
  for (std::uint64_t cut : cuts) byte_cuts.push_back(list.offsets[cut]);
  const auto bytes = all_to_all(comm, std::span<const char>(list.bytes), byte_cuts, received_byte_cuts);
  StringList received;
  received.bytes.assign(bytes.data() == nullptr ? "" : bytes.data(), bytes.size());
  received.offsets.reserve(received_lengths.size() + 1);
  for (std::uint64_t length : received_lengths) received.offsets.push_back(received.offsets.back() + length);
  return received;
}

void append(IntegerList& list, std::uint64_t label) { list.push_back(label); }
void append(StringList& list, std::string_view label) {
  list.bytes += label;
  list.offsets.push_back(list.bytes.size());
}

/// The same list on every rank: all ranks' samples, sorted; every size()-th is a splitter.
template <class List>
List choose_splitters(const List& sorted, Communicator& comm) {
  constexpr std::uint64_t kSamplesPerRank = 64;
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const std::uint64_t count = std::min<std::uint64_t>(kSamplesPerRank, sorted.size());
  List mine, to_all;
  for (std::uint64_t i = 0; i < count; ++i) append(mine, label_at(sorted, sorted.size() * i / count));
  Offsets cuts = {0}, received_cuts;
  for (std::uint64_t r = 0; r < ranks; ++r) {
    for (std::uint64_t i = 0; i < count; ++i) append(to_all, label_at(mine, i));
    cuts.push_back(to_all.size());
  }
  const List all = exchange(to_all, cuts, received_cuts, comm);
  std::vector<std::uint64_t> order(all.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::uint64_t a, std::uint64_t b) { return label_at(all, a) < label_at(all, b); });
  List splitters;
  if (all.size() > 0)
    for (std::uint64_t r = 1; r < ranks; ++r) append(splitters, label_at(all, order[all.size() * r / ranks]));
  return splitters;
}

/// First position in `sorted` whose label is not below each splitter.
template <class List>
Offsets cut_by(const List& sorted, const List& splitters, int num_ranks) {
  Offsets cuts = {0};
  for (std::uint64_t s = 0; s < splitters.size(); ++s) {
    std::uint64_t low = cuts.back(), high = sorted.size();
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (label_at(sorted, middle) < label_at(splitters, s))
        low = middle + 1;
      else
        high = middle;
    }
    cuts.push_back(low);
  }
  cuts.resize(static_cast<std::size_t>(num_ranks) + 1, sorted.size());
  return cuts;
}

/// Distinct labels of `list`, ascending; places[i]: where list[i] is among them.
template <class List>
List merge_distinct(const List& list, std::vector<std::uint64_t>& places) {
  std::vector<std::uint64_t> order(list.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  tbb::parallel_sort(order.begin(), order.end(),
                     [&](std::uint64_t a, std::uint64_t b) { return label_at(list, a) < label_at(list, b); });
  List distinct;
  places.resize(list.size());
  for (std::uint64_t i : order) {
    if (distinct.size() == 0 || label_at(distinct, distinct.size() - 1) != label_at(list, i))
      append(distinct, label_at(list, i));
    places[i] = distinct.size() - 1;
  }
  return distinct;
}

void check_count(std::uint64_t num_vertices) {
  if (num_vertices > kMaxVertices)
    throw InputError("the graph has " + std::to_string(num_vertices) + " different labels; at most " +
                     std::to_string(kMaxVertices) + " are supported");
}

/// Ids [first_id, first_id + labels.size()) to the ranks whose blocks they are in.
template <class List>
List move_to_blocks(const List& labels, std::uint64_t first_id, std::uint64_t num_vertices,
                    Communicator& comm) {
  Offsets cuts, received_cuts;
  for (std::uint64_t boundary : block_boundaries(num_vertices, comm.size()))
    cuts.push_back(std::clamp(boundary, first_id, first_id + labels.size()) - first_id);
  return exchange(labels, cuts, received_cuts, comm);
}

}  // namespace

template <class List>
LabelNumbering<List> number_labels(List sorted_distinct, Communicator& comm) {
  LabelNumbering<List> numbering;
  if (comm.size() == 1) {
    numbering.num_vertices = sorted_distinct.size();
    check_count(numbering.num_vertices);
    numbering.ids.resize(sorted_distinct.size());
    std::iota(numbering.ids.begin(), numbering.ids.end(), VertexId{0});
    numbering.block = std::move(sorted_distinct);
    return numbering;
  }
  Offsets asked_cuts, answer_cuts;
  const Offsets cuts = cut_by(sorted_distinct, choose_splitters(sorted_distinct, comm), comm.size());
  const List asked = exchange(sorted_distinct, cuts, asked_cuts, comm);
  std::vector<std::uint64_t> places;
  List owned;
  run_together(comm, [&] { owned = merge_distinct(asked, places); });
  const Offsets owned_counts = all_gather(comm, owned.size());
  numbering.num_vertices = std::accumulate(owned_counts.begin(), owned_counts.end(), std::uint64_t{0});
  check_count(numbering.num_vertices);
  const std::uint64_t first_id =
      std::accumulate(owned_counts.begin(), owned_counts.begin() + comm.rank(), std::uint64_t{0});
  std::vector<VertexId> answers(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) answers[i] = static_cast<VertexId>(first_id + places[i]);
  const auto ids = all_to_all(comm, std::span<const VertexId>(answers), asked_cuts, answer_cuts);
  numbering.ids.assign(ids.begin(), ids.end());
  numbering.block = move_to_blocks(owned, first_id, numbering.num_vertices, comm);
  return numbering;
}

template LabelNumbering<IntegerList> number_labels(IntegerList, Communicator&);
template LabelNumbering<StringList> number_labels(StringList, Communicator&);

}  // namespace tessera
