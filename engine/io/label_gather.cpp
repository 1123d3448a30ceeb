#include "engine/io/label_gather.hpp"

#include <vector>

namespace tessera {
namespace {

template <class T>
Buffer<T> gather(const Buffer<T>& mine, Communicator& comm) {
  const std::vector<std::uint64_t> counts = all_gather(comm, mine.size());
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts) total += count;
  Buffer<T> all(total);
  all_gather(comm, mine.span(), all.span(), counts);
  return all;
}

}  // namespace

LabelTable gather_labels(const LabelTable& mine, Communicator& comm) {
  LabelTable all;
  all.kind = mine.kind;
  all.first_label = mine.first_label;
  all.count = all_sum(comm, mine.count);
  if (mine.kind == LabelKind::integer) all.integers = gather(mine.integers, comm);
  if (mine.kind != LabelKind::string) return all;
  all.string_bytes = gather(mine.string_bytes, comm);
  // Lengths instead of offsets: they need no rebasing. One spare element in front becomes the leading 0.
  Buffer<std::uint64_t> lengths(mine.count + (comm.is_root() ? 1 : 0));
  std::size_t next = 0;
  if (comm.is_root()) lengths[next++] = 0;
  for (std::uint64_t i = 0; i < mine.count; ++i)
    lengths[next++] = mine.string_offsets[i + 1] - mine.string_offsets[i];
  all.string_offsets = gather(lengths, comm);
  for (std::size_t i = 1; i < all.string_offsets.size(); ++i)
    all.string_offsets[i] += all.string_offsets[i - 1];
  return all;
}

}  // namespace tessera
