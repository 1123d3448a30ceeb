// Copies of a cache of which one is damaged: as on machines of a run, each with a disk of its own.
#include "engine/io/cache_validation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>

#include "engine/io/binary_cache.hpp"
#include "kernels/base/error.hpp"
#include "tests/support/sample_graph.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera {
namespace {

using namespace test;  // NOLINT: the helpers of tests/support

constexpr int kRanks = 3;

bool is_same(const Graph& a, const Graph& b) {
  const auto equal = [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin());
  };
  return a.num_local_rows == b.num_local_rows && equal(a.row_offsets, b.row_offsets) &&
         equal(a.col_indices, b.col_indices) && equal(a.weights, b.weights) &&
         equal(a.labels.integers, b.labels.integers) &&
         equal(a.labels.string_offsets, b.labels.string_offsets) &&
         equal(a.labels.string_bytes, b.labels.string_bytes);
}

void flip_byte(const std::string& path, std::uint64_t position) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(position));
  const auto byte = static_cast<char>(file.get() ^ 0x41);
  file.seekp(static_cast<std::streamoff>(position));
  file.put(byte);
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

/// How many ranks refuse, where rank r reads paths[r]; the others must have their blocks of `graph`.
int ranks_that_refuse(const std::vector<std::string>& paths, const Graph& graph) {
  std::atomic<int> errors = 0;
  run_ranks(kRanks, [&](Communicator& comm) {
    GraphOptions options;
    options.path = paths[comm.rank()];
    try {
      EXPECT_TRUE(is_same(read_binary_cache(options, comm), block_of(graph, comm)));
    } catch (const InputError&) {
      ++errors;
    }
  });
  return errors;
}

void expect_damage_is_found(const Graph& graph) {
  const TemporaryFolder folder;
  std::vector<std::string> paths(kRanks, folder.file("good.tsr"));
  const std::string damaged = folder.file("damaged.tsr");
  write_binary_cache(graph, paths[0], *make_single_rank());
  std::filesystem::copy(paths[0], damaged);
  EXPECT_EQ(ranks_that_refuse(paths, graph), 0);
  CacheHeader header;
  std::memcpy(&header, file_bytes(damaged).data(), sizeof header);
  for (int rank = 0; rank < kRanks; ++rank) {
    paths[rank] = damaged;
    for (const CacheSection& section : header.sections) {
      if (section.length == 0) continue;
      constexpr int kPlaces = 6;  // two in the block of each rank
      for (int place = 0; place < kPlaces; ++place) {
        const std::uint64_t position = section.offset + section.length * (2 * place + 1) / (2 * kPlaces);
        flip_byte(damaged, position);
        const int refused = ranks_that_refuse(paths, graph);
        const bool in_own_block = place / (kPlaces / kRanks) == rank;
        EXPECT_TRUE(refused == kRanks || (refused == 0 && !in_own_block))
            << refused << " ranks refuse, rank " << rank << ", section " << &section - header.sections.data()
            << ", place " << place;
        flip_byte(damaged, position);
      }
    }
    paths[rank] = paths[(rank + 1) % kRanks];
  }
}

// Sections of several pieces of 256 KiB, so that ranks answer for some and use a part of others.

TEST(CacheValidation, ADamagedCopyOfOneRankIsFoundOrNotUsed) {
  std::vector<std::uint64_t> labels(70000);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = 3 * i;
  expect_damage_is_found(random_graph(integer_labels(labels), 200000, true, 5));
}

TEST(CacheValidation, ADamagedCopyOfStringLabelsIsFoundOrNotUsed) {
  std::vector<std::string> labels;
  for (int i = 100000; i < 170000; ++i) labels.push_back("node " + std::to_string(i));
  expect_damage_is_found(random_graph(string_labels(labels), 100000, false, 6));
}

TEST(CacheValidation, MoreRanksThanRowsCheckTheSameFile) {
  for (const std::uint64_t num_vertices : {0, 1, 2}) {
    const TemporaryFolder folder;
    const Graph graph = random_graph(range_labels(num_vertices, 1), num_vertices, true, 1);
    write_binary_cache(graph, folder.file("g.tsr"), *make_single_rank());
    EXPECT_EQ(ranks_that_refuse(std::vector<std::string>(kRanks, folder.file("g.tsr")), graph), 0);
  }
}

}  // namespace
}  // namespace tessera
