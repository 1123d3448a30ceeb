// What every Communicator must do, run by the tests of the single rank, of ranks as threads, and of MPI.
#pragma once
#include <gtest/gtest.h>

#include <numeric>

#include "kernels/base/error.hpp"
#include "partition/communicator.hpp"
#include "partition/run_together.hpp"

namespace tessera::test {

inline void check_reductions(Communicator& comm) {
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  EXPECT_EQ(all_sum(comm, rank + 1), ranks * (ranks + 1) / 2);
  EXPECT_EQ(all_max(comm, (std::uint64_t{1} << 63) + rank), (std::uint64_t{1} << 63) + ranks - 1);
  EXPECT_EQ(all_max(comm, -1.0 - static_cast<double>(rank)), -1.0);
  std::vector<std::int64_t> values = {-5, static_cast<std::int64_t>(rank), std::int64_t{1} << 40};
  comm.all_sum(std::span(values));
  EXPECT_EQ(values[0], -5 * static_cast<std::int64_t>(ranks));
  EXPECT_EQ(values[1], static_cast<std::int64_t>(ranks * (ranks - 1) / 2));
  EXPECT_EQ(values[2], (std::int64_t{1} << 40) * static_cast<std::int64_t>(ranks));
  comm.all_sum(std::span<std::uint64_t>());
}

inline void check_broadcast(Communicator& comm) {
  for (int root = 0; root < comm.size(); ++root) {
    std::string text = comm.rank() == root ? "from " + std::to_string(root) : "something else, longer";
    comm.broadcast(text, root);
    EXPECT_EQ(text, "from " + std::to_string(root));
    text.assign(comm.rank() == root ? 0 : 1, 'x');
    comm.broadcast(text, root);
    EXPECT_EQ(text, "");
  }
}

inline void check_all_gather(Communicator& comm) {
  const std::vector<std::uint64_t> ranks = all_gather(comm, static_cast<std::uint64_t>(comm.rank()) * 3);
  for (int r = 0; r < comm.size(); ++r) EXPECT_EQ(ranks[r], static_cast<std::uint64_t>(r) * 3);
  std::vector<std::uint64_t> counts(comm.size());
  for (int r = 0; r < comm.size(); ++r) counts[r] = static_cast<std::uint64_t>(r) * 1000 % 3001;
  const std::vector<std::uint32_t> mine(counts[comm.rank()], static_cast<std::uint32_t>(comm.rank()));
  std::vector<std::uint32_t> all(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  all_gather(comm, std::span<const std::uint32_t>(mine), std::span(all), counts);
  std::size_t i = 0;
  for (int r = 0; r < comm.size(); ++r)
    for (std::uint64_t k = 0; k < counts[r]; ++k) ASSERT_EQ(all[i++], static_cast<std::uint32_t>(r));
}

/// Rank s sends (s * 7 + r * 3) % 5 * 1000 numbers s * 100 + r to rank r; some pairs send nothing.
inline void check_all_to_all(Communicator& comm) {
  auto count = [](int from, int to) { return static_cast<std::uint64_t>((from * 7 + to * 3) % 5) * 1000; };
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint32_t> send;
  for (int r = 0; r < comm.size(); ++r) {
    send.resize(send.size() + count(comm.rank(), r), static_cast<std::uint32_t>(comm.rank() * 100 + r));
    offsets.push_back(send.size());
  }
  std::vector<std::uint64_t> received_offsets;
  const auto received = all_to_all(comm, std::span<const std::uint32_t>(send), offsets, received_offsets);
  ASSERT_EQ(received_offsets.size(), static_cast<std::size_t>(comm.size()) + 1);
  for (int s = 0; s < comm.size(); ++s) {
    ASSERT_EQ(received_offsets[s + 1] - received_offsets[s], count(s, comm.rank()));
    for (std::uint64_t i = received_offsets[s]; i < received_offsets[s + 1]; ++i)
      ASSERT_EQ(received[i], static_cast<std::uint32_t>(s * 100 + comm.rank()));
  }
}

/// A ring, the last rank sends two messages to the first that must not overtake each other.
inline void check_send_and_receive(Communicator& comm) {
  auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  const int next = (comm.rank() + 1) % comm.size(), previous = (comm.rank() + comm.size() - 1) % comm.size();
  const std::string hello = "hello from " + std::to_string(comm.rank());
  if (comm.rank() == 0) comm.send(bytes(hello), next);
  EXPECT_EQ(comm.receive(previous), "hello from " + std::to_string(previous));
  if (comm.rank() != 0) comm.send(bytes(hello), next);
  comm.barrier();
  if (comm.rank() == comm.size() - 1) {
    comm.send(bytes("first"), 0);
    comm.send(bytes(std::string()), 0);
  }
  if (comm.is_root()) {
    EXPECT_EQ(comm.receive(comm.size() - 1), "first");
    EXPECT_EQ(comm.receive(comm.size() - 1), "");
  }
}

inline void check_run_together(Communicator& comm) {
  const int failing = comm.size() - 1;
  try {
    run_together(comm, [&] {
      if (comm.rank() == failing) throw InputError("a.txt:2: bad");
    });
    ADD_FAILURE() << "no error on rank " << comm.rank();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "a.txt:2: bad");
  }
}

}  // namespace tessera::test
