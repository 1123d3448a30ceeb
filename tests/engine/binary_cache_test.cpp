#include "engine/io/binary_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <functional>
#include <set>

#include "engine/io/cache_checksum.hpp"
#include "engine/io/cache_header.hpp"
#include "kernels/base/error.hpp"
#include "tests/support/sample_graph.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera {
namespace {

using namespace test;  // NOLINT: the helpers of tests/support
using testing::HasSubstr;

const std::vector<std::string> kNames{"", "Ada", "Bob", "a\tb\n", "zoe"};

Graph small_graph(LabelTable labels = string_labels(kNames), bool weighted = true) {
  return sample_graph({{0, 1}, {1, 1}, {2, 1}, {0, 3}, {4, 3}, {3, 0}}, std::move(labels), weighted);
}

GraphOptions reading(const std::string& path) {
  GraphOptions options;
  options.path = path;
  return options;
}

Graph read_alone(const GraphOptions& options) { return read_binary_cache(options, *make_single_rank()); }

std::string bytes_of_cache(const Graph& graph) {
  const TemporaryFolder folder;
  write_binary_cache(graph, folder.file("g.tsr"), *make_single_rank());
  return file_bytes(folder.file("g.tsr"));
}

/// A cache changed by `change`, its checksums made right again: what a hostile file looks like.
struct Forger {
  std::string bytes = bytes_of_cache(small_graph());
  CacheHeader header = header_of(bytes);

  static CacheHeader header_of(const std::string& from) {
    CacheHeader header;
    std::memcpy(&header, from.data(), sizeof header);
    return header;
  }
  template <class T>
  void set(CacheSectionKind kind, std::size_t index, T value) {
    std::memcpy(bytes.data() + header.sections[kind].offset + index * sizeof(T), &value, sizeof value);
  }
  void sign_sections() {
    for (CacheSection& section : header.sections) {
      SectionHasher hasher;
      hasher.add(std::string_view(bytes).substr(section.offset, section.length));
      section.checksum = hasher.finish();
    }
  }
  void sign_header() {
    header.checksum = cache_header_checksum(header);
    std::memcpy(bytes.data(), &header, sizeof header);
  }
};

std::string error_reading(const std::string& bytes) {
  const TemporaryFolder folder;
  write_file_bytes(folder.file("g.tsr"), bytes);
  try {
    read_alone(reading(folder.file("g.tsr")));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_with_header(const std::function<void(CacheHeader&)>& change) {
  Forger forger;
  change(forger.header);
  forger.sign_header();
  return error_reading(forger.bytes);
}

template <class T>
std::string error_with_element(CacheSectionKind kind, std::size_t index, T value) {
  Forger forger;
  forger.set(kind, index, value);
  forger.sign_sections();
  forger.sign_header();
  return error_reading(forger.bytes);
}

RC_GTEST_PROP(BinaryCache, ReadsBackWhatWasWritten, ()) {
  const auto weighted = *rc::gen::arbitrary<bool>();
  const auto num_edges = *rc::gen::inRange(0, 300);
  const auto seed = *rc::gen::arbitrary<unsigned>();
  LabelTable labels;
  const int kind = *rc::gen::inRange(0, 3);
  if (kind == 0) labels = range_labels(*rc::gen::inRange(0, 40), *rc::gen::inRange(0, 3));
  if (kind == 1) {
    const auto set = *rc::gen::arbitrary<std::set<std::uint64_t>>();
    labels = integer_labels({set.begin(), set.end()});
  }
  if (kind == 2) {
    const auto set = *rc::gen::arbitrary<std::set<std::string>>();
    labels = string_labels({set.begin(), set.end()});
  }
  const Graph graph = random_graph(std::move(labels), num_edges, weighted, seed);
  const TemporaryFolder folder;

  write_binary_cache(graph, folder.file("g.tsr"), *make_single_rank());

  RC_ASSERT(is_binary_cache(folder.file("g.tsr")));
  RC_ASSERT(describe(read_alone(reading(folder.file("g.tsr")))) == describe(graph));
}

TEST(BinaryCache, KeepsFacts) {
  Graph graph = small_graph();
  graph.facts.lines_read = 17;
  graph.facts.duplicate_edges = 3;
  graph.facts.duplicates = Duplicates::merge;
  graph.facts.undirected = graph.facts.reversed = true;
  graph.facts.compression = "gzip";
  graph.facts.notes = {"a note with \x1b[31mcolour and \xff"};
  const TemporaryFolder folder;
  write_binary_cache(graph, folder.file("g.tsr"), *make_single_rank());

  const GraphFacts facts = read_alone(reading(folder.file("g.tsr"))).facts;

  EXPECT_EQ(facts.lines_read, 17u);
  EXPECT_EQ(facts.duplicate_edges, 3u);
  EXPECT_TRUE(facts.undirected && facts.reversed);
  EXPECT_EQ(facts.format, "tessera cache");
  EXPECT_THAT(facts.notes, testing::ElementsAre("a note with \\x1b[31mcolour and \xEF\xBF\xBD",
                                                HasSubstr("edge list, compression gzip")));
}

TEST(BinaryCache, IsTheSameFileAndGraphForAnyNumberOfRanks) {
  for (const bool large : {false, true}) {
    const Graph graph = large ? random_graph(range_labels(40000, 1), 200000, true, 5) : small_graph();
    const std::string expected = bytes_of_cache(graph);
    for (int num_ranks = 1; num_ranks <= 7; ++num_ranks) {
      const TemporaryFolder folder;
      run_ranks(num_ranks, [&](Communicator& comm) {
        const Graph block = block_of(graph, comm);
        write_binary_cache(block, folder.file("g.tsr"), comm);
        const Graph back = read_binary_cache(reading(folder.file("g.tsr")), comm);
        EXPECT_EQ(describe(back), describe(block));
      });
      EXPECT_TRUE(file_bytes(folder.file("g.tsr")) == expected) << num_ranks << " ranks";
    }
  }
}

TEST(BinaryCache, EveryChangedByteIsFoundOrHarmless) {
  const std::string expected = describe(small_graph());
  std::string bytes = bytes_of_cache(small_graph());
  const TemporaryFolder folder;
  std::size_t harmless = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ 0x41);
    write_file_bytes(folder.file("g.tsr"), bytes);
    try {
      EXPECT_EQ(describe(read_alone(reading(folder.file("g.tsr")))), expected) << "byte " << i;
      ++harmless;
    } catch (const InputError&) {
    }
    bytes[i] = static_cast<char>(bytes[i] ^ 0x41);
  }
  // Only the padding between sections is not covered by a checksum.
  EXPECT_LT(harmless, 64u * kNumCacheSections);
}

TEST(BinaryCache, EveryTruncationIsFound) {
  const std::string bytes = bytes_of_cache(small_graph());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string message = error_reading(bytes.substr(0, length));
    EXPECT_THAT(message, HasSubstr("truncated")) << length << " bytes";
  }
}

TEST(BinaryCache, NamesWhatIsWrongWithTheIdentity) {
  EXPECT_THAT(error_reading("0 1\n1 2\n"), HasSubstr("not a tessera cache"));
  EXPECT_THAT(error_with_header([](CacheHeader& h) { h.version = 2; }),
              HasSubstr("cache version 2, but this program reads version 1"));
  EXPECT_THAT(error_with_header([](CacheHeader& h) { h.endian_mark = 0x04030201; }),
              HasSubstr("another byte order"));
  EXPECT_THAT(error_reading(bytes_of_cache(small_graph()) + "x"), HasSubstr("1 bytes after the end"));
  Forger forger;
  forger.header.num_edges ^= 1;
  std::memcpy(forger.bytes.data(), &forger.header, sizeof forger.header);
  EXPECT_THAT(error_reading(forger.bytes), HasSubstr("checksum of the header"));
}

TEST(BinaryCache, RefusesImpossibleCountsBeforeAllocating) {
  const auto edges = [](std::uint64_t count) { return [count](CacheHeader& h) { h.num_edges = count; }; };
  const auto vertices = [](std::uint64_t count) {
    return [count](CacheHeader& h) { h.num_vertices = count; };
  };

  EXPECT_THAT(error_with_header(edges(std::uint64_t{1} << 60)),
              HasSubstr("num_edges is 1152921504606846976"));
  EXPECT_THAT(error_with_header(edges(~std::uint64_t{0})), HasSubstr("num_edges"));
  EXPECT_THAT(error_with_header(edges(7)), HasSubstr("section col_indices: 24 bytes long, expected 28"));
  EXPECT_THAT(error_with_header(vertices(std::uint64_t{1} << 61)), HasSubstr("num_vertices"));
  EXPECT_THAT(error_with_header(vertices(kMaxVertices)),
              HasSubstr("section row_offsets: 48 bytes long, expected"));
}

TEST(BinaryCache, RefusesUnknownHeaderValues) {
  EXPECT_THAT(error_with_header([](CacheHeader& h) { h.flags |= 8; }), HasSubstr("flags"));
  EXPECT_THAT(error_with_header([](CacheHeader& h) { h.label_kind = static_cast<LabelKind>(3); }),
              HasSubstr("label_kind"));
  EXPECT_THAT(error_with_header([](CacheHeader& h) { h.duplicates = 3; }), HasSubstr("duplicates"));
  EXPECT_THAT(error_with_header([](CacheHeader& h) { h.num_sections = 8; }), HasSubstr("num_sections"));
  EXPECT_THAT(error_with_header([](CacheHeader& h) { h.first_label = 1; }), HasSubstr("first_label"));
  EXPECT_THAT(error_with_header([](CacheHeader& h) { h.reserved[5] = 1; }), HasSubstr("reserved"));
}

TEST(BinaryCache, RefusesSectionsInTheWrongPlace) {
  const auto with_offset = [](std::uint64_t offset) {
    return error_with_header([&](CacheHeader& h) { h.sections[kColIndices].offset = offset; });
  };

  EXPECT_THAT(with_offset(577), HasSubstr("section col_indices: at byte 577, which is not a multiple of 64"));
  EXPECT_THAT(with_offset(512),
              HasSubstr("section col_indices: at byte 512, overlaps what ends at byte 560"));
  EXPECT_THAT(with_offset(0), HasSubstr("overlaps"));
  EXPECT_THAT(with_offset(1 << 20), HasSubstr("beyond the end of the file"));
  EXPECT_THAT(with_offset(~std::uint64_t{63}), HasSubstr("beyond the end of the file"));
}

TEST(BinaryCache, ChecksElementsAlsoWhenChecksumsAreRight) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 60;
  const double infinity = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_THAT(error_with_element(kRowOffsets, 0, std::uint64_t{1}),
              HasSubstr("section row_offsets: not ascending"));
  EXPECT_THAT(error_with_element(kRowOffsets, 2, kFar), HasSubstr("section row_offsets: not ascending"));
  EXPECT_THAT(error_with_element(kRowOffsets, 5, kFar), HasSubstr("section row_offsets: not ascending"));
  EXPECT_THAT(error_with_element(kColIndices, 3, VertexId{5}), HasSubstr("not below the number of vertices"));
  EXPECT_THAT(error_with_element(kColIndices, 5, kNoVertex), HasSubstr("not below the number of vertices"));
  EXPECT_THAT(error_with_element(kColIndices, 1, VertexId{4}),
              HasSubstr("columns of a row are not ascending"));
  for (const double bad : {-1.0, infinity, nan})
    EXPECT_THAT(error_with_element(kWeights, 2, bad), HasSubstr("negative or not finite"));
  EXPECT_THAT(error_with_element(kLabelOffsets, 1, kFar), HasSubstr("section label_offsets: not ascending"));
  EXPECT_THAT(error_with_element(kLabelOffsets, 5, std::uint64_t{3}), HasSubstr("section label_offsets"));
  EXPECT_THAT(error_with_element(kLabelBytes, 0, 'z'), HasSubstr("labels: not ascending"));
  EXPECT_THAT(error_with_element(kFacts, 0, '['), HasSubstr("section facts"));
}

TEST(BinaryCache, RefusesUnsortedIntegerLabels) {
  Forger forger;
  forger.bytes = bytes_of_cache(small_graph(integer_labels({1, 2, 7, 8, 9})));
  forger.header = Forger::header_of(forger.bytes);
  forger.set(kLabelIntegers, 2, std::uint64_t{8});
  forger.sign_sections();
  forger.sign_header();

  EXPECT_THAT(error_reading(forger.bytes), HasSubstr("labels: not ascending, or a label twice"));
}

TEST(BinaryCache, AllRanksThrowTheSameErrorForDamage) {
  Forger forger;
  forger.set(kWeights, 1, 99.0);
  const TemporaryFolder folder;
  write_file_bytes(folder.file("g.tsr"), forger.bytes);
  std::atomic<int> errors = 0;
  run_ranks(3, [&](Communicator& comm) {
    try {
      read_binary_cache(reading(folder.file("g.tsr")), comm);
    } catch (const InputError& error) {
      errors += std::string(error.what()).find("section weights: its checksum is wrong") != std::string::npos;
    }
  });
  EXPECT_EQ(errors, 3);
}

TEST(BinaryCache, OptionsChangeEdgesAfterReading) {
  const TemporaryFolder folder;
  const std::string path = folder.file("g.tsr");
  write_binary_cache(small_graph(), path, *make_single_rank());
  GraphOptions unweighted = reading(path), no_loops = reading(path), reverse = reading(path),
               both = reading(path);
  unweighted.unweighted = true;
  no_loops.self_loops = SelfLoops::drop;
  reverse.reverse = reverse.unweighted = true;
  both.undirected = both.unweighted = true;
  const auto edges = [](std::vector<std::pair<VertexId, VertexId>> list) {
    return describe(sample_graph(std::move(list), string_labels(kNames)));
  };

  EXPECT_EQ(describe(read_alone(unweighted)), describe(small_graph(string_labels(kNames), false)));
  EXPECT_EQ(describe(read_alone(reverse)), edges({{1, 0}, {1, 1}, {1, 2}, {3, 0}, {3, 4}, {0, 3}}));
  EXPECT_EQ(describe(read_alone(both)),
            edges({{0, 1}, {1, 0}, {1, 1}, {2, 1}, {1, 2}, {0, 3}, {3, 0}, {3, 4}, {4, 3}}));
  const Graph without = read_alone(no_loops);
  EXPECT_EQ(without.num_edges, 5u);
  EXPECT_EQ(without.facts.self_loops_dropped, 1u);
  EXPECT_THAT(describe(without), HasSubstr("Ada: 0*1.5 2*3.5\n"));
}

TEST(BinaryCache, OptionsGiveTheSameGraphForAnyNumberOfRanks) {
  const TemporaryFolder folder;
  GraphOptions options = reading(folder.file("g.tsr"));
  options.undirected = options.reverse = true;
  options.self_loops = SelfLoops::drop;
  write_binary_cache(random_graph(range_labels(50, 0), 400, true, 9), options.path, *make_single_rank());
  const Graph expected = read_alone(options);
  EXPECT_GT(expected.num_edges, 400u);
  for (const int num_ranks : {2, 3, 7}) {
    run_ranks(num_ranks, [&](Communicator& comm) {
      EXPECT_EQ(describe(read_binary_cache(options, comm)), describe(block_of(expected, comm)));
    });
  }
}

TEST(BinaryCache, RefusesOptionsThatItCannotFulfil) {
  const TemporaryFolder folder;
  const std::string path = folder.file("g.tsr");
  Graph graph = small_graph(string_labels(kNames), false);
  graph.facts.duplicates = Duplicates::keep;
  graph.facts.duplicate_edges = 1;
  graph.facts.undirected = true;
  write_binary_cache(graph, path, *make_single_rank());
  const auto error_with = [&](const std::function<void(GraphOptions&)>& change) -> std::string {
    GraphOptions options = reading(path);
    options.duplicates = Duplicates::keep;
    change(options);
    try {
      read_alone(options);
    } catch (const OptionError& error) {
      return error.what();
    }
    return "no error";
  };

  EXPECT_EQ(error_with([](GraphOptions& o) { o.labels = LabelChoice::string; }), "no error");
  EXPECT_THAT(error_with([](GraphOptions& o) { o.weighted = true; }),
              HasSubstr("--weighted: the cache holds no weights"));
  EXPECT_THAT(error_with([](GraphOptions& o) { o.directed = true; }),
              HasSubstr("--directed: the cache holds both directions"));
  EXPECT_THAT(error_with([](GraphOptions& o) { o.labels = LabelChoice::integer; }),
              HasSubstr("made with string labels"));
  EXPECT_THAT(error_with([](GraphOptions& o) { o.duplicates = Duplicates::drop; }),
              HasSubstr("--duplicates drop: the cache was made with --duplicates keep"));
}

/// Which direction of an edge came first is not kept.
TEST(BinaryCache, OfOneDirectionDropsNoWeightsOfTheOther) {
  const TemporaryFolder folder;
  GraphOptions options = reading(folder.file("g.tsr"));
  options.undirected = true;
  options.duplicates = Duplicates::drop;
  for (const bool weighted : {false, true}) {
    Graph graph = small_graph(string_labels(kNames), weighted);
    graph.facts.duplicates = Duplicates::drop;
    write_binary_cache(graph, options.path, *make_single_rank());
    if (weighted)
      EXPECT_THROW(read_alone(options), OptionError);
    else
      EXPECT_TRUE(read_alone(options).facts.undirected);
  }
}

TEST(BinaryCache, IsRecognisedByItsFirstBytes) {
  const TemporaryFolder folder;
  write_file_bytes(folder.file("text"), "0 1\n");
  write_file_bytes(folder.file("short"), "\x89TSR");
  ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);

  for (const char* name : {"text", "short", "fifo", "missing", ""})
    EXPECT_FALSE(is_binary_cache(folder.file(name)));
  EXPECT_FALSE(is_binary_cache("-"));
}

TEST(BinaryCache, AFailedWriteLeavesTheOldFileAndReachesAllRanks) {
  const Graph graph = small_graph();
  std::atomic<int> errors = 0;
  run_ranks(3, [&](Communicator& comm) {
    try {
      write_binary_cache(block_of(graph, comm), "/dev/full", comm);
    } catch (const ResourceError&) {
      ++errors;
    }
  });
  EXPECT_EQ(errors, 3);
}

}  // namespace
}  // namespace tessera
