// See mpi_communicator.hpp. Counts of MPI calls are ints, so long messages go in pieces.
#include "partition/mpi_communicator.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>

#include "kernels/base/error.hpp"
#include "kernels/base/lost_rank.hpp"

namespace tessera {
namespace {

constexpr int kExchangeTag = 1, kMessageTag = 2;
/// Of calls that may be given up, each in the time that a rank has to answer: 5 seconds at 7 MB/s.
constexpr std::uint64_t kTimedPieceBytes = std::uint64_t{1} << 25;

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw LostRankError(std::string("communication failed in ") + call + ": " + std::string(text, length));
}

template <class T>
MPI_Datatype datatype();
template <>
MPI_Datatype datatype<std::int64_t>() {
  return MPI_INT64_T;
}
template <>
MPI_Datatype datatype<std::uint64_t>() {
  return MPI_UINT64_T;
}
template <>
MPI_Datatype datatype<double>() {
  return MPI_DOUBLE;
}

/// Calls body(begin, count) for pieces of at most `piece`.
template <class Body>
void in_pieces(std::uint64_t size, std::uint64_t piece, Body body) {
  for (std::uint64_t begin = 0; begin < size; begin += piece)
    body(begin, static_cast<int>(std::min(piece, size - begin)));
}

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator(MPI_Comm parent, std::uint64_t piece_bytes) : piece_(piece_bytes) {
    check(MPI_Comm_dup(parent, &comm_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }
  // The communicator is not freed: freeing is collective, and a destructor may run on one failing rank.

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void barrier() override { check(MPI_Barrier(comm_), "MPI_Barrier"); }
  void set_answer_seconds(double seconds) override { answer_seconds_ = seconds; }
  void all_sum(std::span<std::int64_t> values) override { reduce(values, MPI_SUM); }
  void all_sum(std::span<std::uint64_t> values) override { reduce(values, MPI_SUM); }
  void all_max(std::span<double> values) override { reduce(values, MPI_MAX); }
  void all_max(std::span<std::uint64_t> values) override { reduce(values, MPI_MAX); }

  void broadcast(std::string& bytes, int root) override {
    std::uint64_t size = bytes.size();
    check(MPI_Bcast(&size, 1, MPI_UINT64_T, root, comm_), "MPI_Bcast");
    bytes.resize(size);
    in_pieces(size, piece_, [&](std::uint64_t begin, int count) {
      check(MPI_Bcast(bytes.data() + begin, count, MPI_BYTE, root, comm_), "MPI_Bcast");
    });
  }

  void all_gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all,
                        std::span<const std::uint64_t> byte_counts) override {
    require(static_cast<int>(byte_counts.size()) == size_ && byte_counts[rank_] == mine.size(),
            "all_gather: counts do not match");
    const std::uint64_t total = std::accumulate(byte_counts.begin(), byte_counts.end(), std::uint64_t{0});
    require(total <= all.size(), "all_gather: no room");
    if (answer_seconds_ > 0) return gather_in_time(mine, all.first(total), byte_counts);
    if (total <= piece_) return gather_at_once(mine, all, byte_counts);
    std::uint64_t position = 0;
    for (int r = 0; r < size_; position += byte_counts[r++]) {
      if (r == rank_ && !mine.empty()) std::memmove(all.data() + position, mine.data(), mine.size());
      in_pieces(byte_counts[r], piece_, [&](std::uint64_t begin, int count) {
        check(MPI_Bcast(all.data() + position + begin, count, MPI_BYTE, r, comm_), "MPI_Bcast");
      });
    }
  }

  Buffer<std::byte> all_to_all_bytes(std::span<const std::byte> send,
                                     std::span<const std::uint64_t> send_offsets,
                                     std::vector<std::uint64_t>& received_offsets) override {
    require(static_cast<int>(send_offsets.size()) == size_ + 1 && send_offsets.back() <= send.size(),
            "all_to_all: offsets do not match");
    std::vector<std::uint64_t> sizes(size_), received_sizes(size_);
    for (int r = 0; r < size_; ++r) sizes[r] = send_offsets[r + 1] - send_offsets[r];
    check(MPI_Alltoall(sizes.data(), 1, MPI_UINT64_T, received_sizes.data(), 1, MPI_UINT64_T, comm_),
          "MPI_Alltoall");
    received_offsets.assign(size_ + 1, 0);
    std::partial_sum(received_sizes.begin(), received_sizes.end(), received_offsets.begin() + 1);
    Buffer<std::byte> received(received_offsets.back());
    exchange(send, send_offsets, received, received_offsets);
    return received;
  }

  void send(std::span<const std::byte> bytes, int to) override {
    const std::uint64_t size = bytes.size();
    check(MPI_Send(&size, 1, MPI_UINT64_T, to, kMessageTag, comm_), "MPI_Send");
    in_pieces(size, piece_, [&](std::uint64_t begin, int count) {
      check(MPI_Send(bytes.data() + begin, count, MPI_BYTE, to, kMessageTag, comm_), "MPI_Send");
    });
  }

  std::string receive(int from) override {
    std::uint64_t size = 0;
    check(MPI_Recv(&size, 1, MPI_UINT64_T, from, kMessageTag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    std::string bytes(size, '\0');
    in_pieces(size, piece_, [&](std::uint64_t begin, int count) {
      check(MPI_Recv(bytes.data() + begin, count, MPI_BYTE, from, kMessageTag, comm_, MPI_STATUS_IGNORE),
            "MPI_Recv");
    });
    return bytes;
  }

 private:
  template <class T>
  void reduce(std::span<T> values, MPI_Op operation) {
    if (answer_seconds_ > 0) return reduce_in_time(values, operation);
    in_pieces(values.size(), piece_ / sizeof(T), [&](std::uint64_t begin, int count) {
      check(MPI_Allreduce(MPI_IN_PLACE, values.data() + begin, count, datatype<T>(), operation, comm_),
            "MPI_Allreduce");
    });
  }

  /// Given up, the memory still belongs to MPI: it is left behind, as the process is about to end.
  template <class Memory>
  void await(MPI_Request& request, std::unique_ptr<Memory>& memory) {
    const auto start = std::chrono::steady_clock::now();
    for (int done = 0; done == 0;) {
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      if (done != 0 || waited.count() < answer_seconds_) continue;
      (void)memory.release();
      throw LostRankError("another process has not answered for " + std::to_string(waited.count()) +
                          " seconds: it is gone or has stopped");
    }
  }

  std::uint64_t timed_piece() const { return std::min(piece_, kTimedPieceBytes); }

  template <class T>
  void reduce_in_time(std::span<T> values, MPI_Op operation) {
    auto buffer = std::make_unique<std::vector<T>>(values.begin(), values.end());
    in_pieces(values.size(), timed_piece() / sizeof(T), [&](std::uint64_t begin, int count) {
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Iallreduce(MPI_IN_PLACE, buffer->data() + begin, count, datatype<T>(), operation, comm_,
                           &request),
            "MPI_Iallreduce");
      await(request, buffer);
    });
    std::copy(buffer->begin(), buffer->end(), values.begin());
  }

  void gather_at_once(std::span<const std::byte> mine, std::span<std::byte> all,
                      std::span<const std::uint64_t> byte_counts) {
    std::vector<int> counts(byte_counts.begin(), byte_counts.end()), positions(size_, 0);
    std::partial_sum(counts.begin(), counts.end() - 1, positions.begin() + 1);
    // MPI forbids that `mine` lies in `all` unless it is named as being in place.
    std::byte* own = all.data() + positions[rank_];
    if (!mine.empty() && mine.data() != own) std::memmove(own, mine.data(), mine.size());
    check(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), counts.data(), positions.data(),
                         MPI_BYTE, comm_),
          "MPI_Allgatherv");
  }

  void gather_in_time(std::span<const std::byte> mine, std::span<std::byte> all,
                      std::span<const std::uint64_t> byte_counts) {
    if (gathered_ == nullptr) gathered_ = std::make_unique<Gathered>();
    auto& [bytes, counts, starts] = *gathered_;
    if (bytes.size() < all.size()) bytes.resize(all.size());
    std::vector<std::uint64_t> positions(byte_counts.size(), 0);
    std::partial_sum(byte_counts.begin(), byte_counts.end() - 1, positions.begin() + 1);
    std::copy(mine.begin(), mine.end(), bytes.data() + positions[rank_]);
    MPI_Request request = MPI_REQUEST_NULL;
    if (all.size() <= piece_) {
      const std::uint64_t step = std::max<std::uint64_t>(1, timed_piece() / byte_counts.size());
      const std::uint64_t longest = *std::max_element(byte_counts.begin(), byte_counts.end());
      for (std::uint64_t begin = 0; begin < longest; begin += step) {
        counts.clear();
        starts.clear();
        for (std::size_t r = 0; r < byte_counts.size(); ++r) {
          const std::uint64_t first = std::min(begin, byte_counts[r]);
          counts.push_back(static_cast<int>(std::min(step, byte_counts[r] - first)));
          starts.push_back(static_cast<int>(positions[r] + first));
        }
        check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, bytes.data(), counts.data(), starts.data(),
                              MPI_BYTE, comm_, &request),
              "MPI_Iallgatherv");
        await(request, gathered_);
      }
    } else {
      for (int r = 0; r < size_; ++r)
        in_pieces(byte_counts[r], timed_piece(), [&](std::uint64_t begin, int count) {
          check(MPI_Ibcast(bytes.data() + positions[r] + begin, count, MPI_BYTE, r, comm_, &request),
                "MPI_Ibcast");
          await(request, gathered_);
        });
    }
    std::copy_n(bytes.begin(), all.size(), all.begin());
  }

  /// All receives and sends under way at once; the own part is copied.
  void exchange(std::span<const std::byte> send, std::span<const std::uint64_t> send_offsets,
                Buffer<std::byte>& received, std::span<const std::uint64_t> received_offsets) {
    std::vector<MPI_Request> requests;
    for (int step = 1; step < size_; ++step) {
      const int from = (rank_ + size_ - step) % size_;
      in_pieces(received_offsets[from + 1] - received_offsets[from], piece_,
                [&](std::uint64_t begin, int count) {
                  check(MPI_Irecv(received.data() + received_offsets[from] + begin, count, MPI_BYTE, from,
                                  kExchangeTag, comm_, &requests.emplace_back()),
                        "MPI_Irecv");
                });
    }
    for (int step = 1; step < size_; ++step) {
      const int to = (rank_ + step) % size_;
      in_pieces(send_offsets[to + 1] - send_offsets[to], piece_, [&](std::uint64_t begin, int count) {
        check(MPI_Isend(send.data() + send_offsets[to] + begin, count, MPI_BYTE, to, kExchangeTag, comm_,
                        &requests.emplace_back()),
              "MPI_Isend");
      });
    }
    const std::uint64_t own = send_offsets[rank_ + 1] - send_offsets[rank_];
    if (own != 0)
      std::memcpy(received.data() + received_offsets[rank_], send.data() + send_offsets[rank_], own);
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
  }

  const std::uint64_t piece_;
  double answer_seconds_ = 0;
  /// What a gather that may be given up works on, until it is done.
  struct Gathered {
    std::vector<std::byte> bytes;
    std::vector<int> counts, starts;
  };
  std::unique_ptr<Gathered> gathered_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  int provided = MPI_THREAD_SINGLE, is_there = 0, has_ended = 0;
  check(MPI_Initialized(&is_there), "MPI_Initialized");
  check(MPI_Finalized(&has_ended), "MPI_Finalized");
  if (has_ended != 0) throw ResourceError("MPI has ended in this process and cannot start again");
  has_started_mpi_ = is_there == 0;
  if (has_started_mpi_)
    check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  else
    check(MPI_Query_thread(&provided), "MPI_Query_thread");
  if (provided < MPI_THREAD_FUNNELED)
    throw ResourceError(
        "MPI runs without threads; start it with MPI_THREAD_FUNNELED, or use one that has that");
}

std::unique_ptr<Communicator> MpiSession::world(std::uint64_t piece_bytes) const {
  require(piece_bytes >= sizeof(double) && piece_bytes <= (std::uint64_t{1} << 30), "MpiSession: piece size");
  return std::make_unique<MpiCommunicator>(MPI_COMM_WORLD, piece_bytes);
}

void MpiSession::finish() {
  if (has_started_mpi_) check(MPI_Finalize(), "MPI_Finalize");
}

bool MpiSession::under_mpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

}  // namespace tessera
