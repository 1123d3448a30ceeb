// What the project needs from a group of processes ("ranks"), in host memory. Every call is collective
// unless it says otherwise: all ranks call it, in the same order. One code path serves 1..P ranks:
// SingleRank answers trivially, MpiCommunicator (partition/mpi_communicator.hpp) over MPI.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/buffer.hpp"

namespace tessera {

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool is_root() const { return rank() == 0; }

  virtual void barrier() = 0;  ///< returns when every rank has called it
  /// From now on sums, maxima and gathers throw LostRankError when not all ranks have called them within so
  /// many seconds, in which the next 32 MiB must have come, too; 0: they wait for ever. For phases in which
  /// all ranks keep step. Not collective.
  virtual void set_answer_seconds(double) {}
  /// In place, element by element. Integer sums: exact in any order.
  virtual void all_sum(std::span<std::int64_t> values) = 0;
  virtual void all_sum(std::span<std::uint64_t> values) = 0;
  virtual void all_max(std::span<double> values) = 0;
  virtual void all_max(std::span<std::uint64_t> values) = 0;
  /// Rank `root` gives `bytes`; the others receive a copy (resized).
  virtual void broadcast(std::string& bytes, int root) = 0;
  /// Gathers `mine` of every rank into `all`, in rank order; byte_counts[r] is what rank r gives.
  /// Sizes above 2 GiB work.
  virtual void all_gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all,
                                std::span<const std::uint64_t> byte_counts) = 0;
  /// Bytes for rank r are send[send_offsets[r], send_offsets[r+1]); the result holds what every rank sent
  /// here, in rank order, with `received_offsets` (size+1) filled. > 2 GiB works.
  virtual Buffer<std::byte> all_to_all_bytes(std::span<const std::byte> send,
                                             std::span<const std::uint64_t> send_offsets,
                                             std::vector<std::uint64_t>& received_offsets) = 0;
  /// Not collective: one rank sends, one receives, matched by order.
  virtual void send(std::span<const std::byte> bytes, int to) = 0;
  virtual std::string receive(int from) = 0;
};

/// A group of one process.
std::unique_ptr<Communicator> make_single_rank();

// Typed forms.

inline std::uint64_t all_sum(Communicator& comm, std::uint64_t value) {
  comm.all_sum(std::span<std::uint64_t>(&value, 1));
  return value;
}
inline std::uint64_t all_max(Communicator& comm, std::uint64_t value) {
  comm.all_max(std::span<std::uint64_t>(&value, 1));
  return value;
}
inline double all_max(Communicator& comm, double value) {
  comm.all_max(std::span<double>(&value, 1));
  return value;
}
/// Whether it is so on every rank.
inline bool all_true(Communicator& comm, bool is_so) { return all_max(comm, std::uint64_t{!is_so}) == 0; }
/// Whether every rank has the same number.
inline bool all_same(Communicator& comm, std::uint64_t number) {
  const std::uint64_t largest = all_max(comm, number), smallest = ~all_max(comm, ~number);
  return largest == smallest;
}
/// value of every rank, in rank order.
std::vector<std::uint64_t> all_gather(Communicator& comm, std::uint64_t value);

/// `all` must have room for the sum of `counts` (elements, not bytes).
template <class T>
void all_gather(Communicator& comm, std::span<const T> mine, std::span<T> all,
                std::span<const std::uint64_t> counts) {
  std::vector<std::uint64_t> byte_counts(counts.begin(), counts.end());
  for (std::uint64_t& count : byte_counts) count *= sizeof(T);
  comm.all_gather_bytes(std::as_bytes(mine), std::as_writable_bytes(all), byte_counts);
}

/// Elements for rank r are send[send_offsets[r], send_offsets[r+1]); offsets count elements.
template <class T>
Buffer<T> all_to_all(Communicator& comm, std::span<const T> send, std::span<const std::uint64_t> send_offsets,
                     std::vector<std::uint64_t>& received_offsets) {
  std::vector<std::uint64_t> byte_offsets(send_offsets.begin(), send_offsets.end());
  for (std::uint64_t& offset : byte_offsets) offset *= sizeof(T);
  auto bytes = std::make_shared<Buffer<std::byte>>(
      comm.all_to_all_bytes(std::as_bytes(send), byte_offsets, received_offsets));
  for (std::uint64_t& offset : received_offsets) offset /= sizeof(T);
  T* data = reinterpret_cast<T*>(bytes->data());
  const std::size_t size = bytes->size() / sizeof(T);
  return Buffer<T>(std::move(bytes), data, size);
}

}  // namespace tessera
