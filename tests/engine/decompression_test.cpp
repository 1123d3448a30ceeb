// Compressed inputs and archives: every member and frame, damage found, memory bounded.
#include "engine/io/decompression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#ifdef TESSERA_HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "tests/support/input_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::test {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<Edge> kEdges = {{"1", "2", 1}, {"3", "4", 1}};
// gzip -n of "1 2\n".
const std::string kGzip12 =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x33\x54\x30\xe2\x02\x00\x57\xbb\x3b\x5c\x04\x00\x00\x00"s;

TEST(ChooseMember, TakesTheFileThatLooksLikeAGraph) {
  EXPECT_EQ(choose_member({"x/README.txt", "x/x.mtx"}, "", "a"), "x/x.mtx");
  EXPECT_EQ(choose_member({"x/x.mtx", "x/x_b.mtx"}, "", "a"), "x/x.mtx");
  EXPECT_EQ(choose_member({"w/README.w", "w/meta.w", "w/out.w"}, "", "a"), "w/out.w");
  EXPECT_EQ(choose_member({"g.e", "g.v", "g.properties"}, "", "a"), "g.e");
  EXPECT_EQ(choose_member({"nodes.csv", "my_edges.csv"}, "", "a"), "my_edges.csv");
  EXPECT_EQ(choose_member({"readme.txt", "data.txt", "__MACOSX/._data.txt"}, "", "a"), "data.txt");
}

TEST(ChooseMember, ListsTheMembersWhereItIsUnclear) {
  const auto error = [](const std::vector<std::string>& members, const std::string& wanted) -> std::string {
    try {
      return choose_member(members, wanted, "a.zip") + " chosen";
    } catch (const InputError& e) {
      return e.what();
    }
  };
  EXPECT_THAT(error({"a.mtx", "b.mtx"}, ""),
              HasSubstr("a.zip: several files in the archive may be the graph"));
  EXPECT_THAT(error({"a.mtx", "b.mtx"}, ""), HasSubstr("it holds: a.mtx, b.mtx"));
  EXPECT_THAT(error({"a.png"}, ""), HasSubstr("no file in the archive is named like a graph"));
  EXPECT_THAT(error({}, ""), HasSubstr("it holds: no files"));
  EXPECT_THAT(error({"a.mtx"}, "c"), HasSubstr("no members c"));
  EXPECT_EQ(error({"d/a.mtx", "b.mtx"}, "a.mtx"), "d/a.mtx chosen");
  EXPECT_THAT(error({"d/a.mtx", "e/a.mtx"}, "a.mtx"), HasSubstr("several members a.mtx"));
}

TEST(ChooseMember, TakesAFileThatWasReplacedByAppendingForOne) {
  EXPECT_EQ(choose_member({"g.txt", "b.txt", "g.txt"}, "g.txt", "a"), "g.txt");
  EXPECT_EQ(choose_member({"d/g.txt", "d/g.txt"}, "g.txt", "a"), "d/g.txt");
  EXPECT_EQ(choose_member({"g.mtx", "g.mtx"}, "", "a"), "g.mtx");
}

TEST(FindLayer, GoesByTheFirstBytes) {
  EXPECT_EQ(find_layer(kGzip12), Layer::gzip);
  EXPECT_EQ(find_layer("\x28\xB5\x2F\xFD...."), Layer::zstd);
  EXPECT_EQ(find_layer("\x50\x2A\x4D\x18\0\0\0\0"s), Layer::zstd);
  EXPECT_EQ(find_layer("PK\x03\x04"), Layer::zip);
  EXPECT_EQ(find_layer("BZh 1 2"), std::nullopt);
  EXPECT_EQ(find_layer("1 2\n"), std::nullopt);
  EXPECT_EQ(find_layer(""), std::nullopt);
}

#ifdef TESSERA_HAVE_LIBARCHIVE

/// What libarchive's writer makes of the files, with a filter and a format (raw takes one file).
std::string packed(int (*filter)(archive*), int (*format)(archive*),
                   const std::vector<std::pair<std::string, std::string>>& files) {
  std::string bytes(std::size_t{4} << 20, '\0');
  std::size_t used = 0;
  archive* out = archive_write_new();
  filter(out);
  format(out);
  archive_write_set_bytes_per_block(out, 1);
  archive_write_set_bytes_in_last_block(out, 1);
  EXPECT_EQ(archive_write_open_memory(out, bytes.data(), bytes.size(), &used), ARCHIVE_OK);
  for (const auto& [name, text] : files) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(text.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    EXPECT_EQ(archive_write_header(out, entry), ARCHIVE_OK);
    EXPECT_EQ(archive_write_data(out, text.data(), text.size()), static_cast<la_ssize_t>(text.size()));
    archive_entry_free(entry);
  }
  EXPECT_EQ(archive_write_close(out), ARCHIVE_OK);
  archive_write_free(out);
  bytes.resize(used);
  return bytes;
}
std::string compressed(int (*filter)(archive*), const std::string& text) {
  return packed(filter, archive_write_set_format_raw, {{"data", text}});
}

struct Filter {
  const char* name;
  int (*add)(archive*);
};
const Filter kFilters[] = {{"gzip", archive_write_add_filter_gzip},
                           {"zstd", archive_write_add_filter_zstd},
                           {"bzip2", archive_write_add_filter_bzip2},
                           {"xz", archive_write_add_filter_xz},
                           {"lz4", archive_write_add_filter_lz4}};

TEST(Decompression, ReadsEveryCompressionWithAllItsMembers) {
  for (const Filter& filter : kFilters) {
    const std::string one = compressed(filter.add, "1 2\n"), two = compressed(filter.add, "3 4\n");
    for (int ranks : {1, 3}) {
      const ReadResult result = read_text(one + two, {}, ranks, {}, "graph.txt");
      EXPECT_EQ(result.error, "") << filter.name;
      EXPECT_EQ(result.edges, kEdges) << filter.name;
      EXPECT_EQ(result.first.facts.compression, filter.name);
    }
  }
}

TEST(Decompression, BlocksOfAnySizeKeepOrderAndLineNumbers) {
  std::string text = "# c\n";
  std::vector<Edge> expected;
  for (int i = 0; i < 50; ++i) {
    text += std::to_string(i) + " 7\n";
    expected.emplace_back(std::to_string(i), "7", 1);
  }
  const std::string good = compressed(archive_write_add_filter_zstd, text);
  const std::string bad = compressed(archive_write_add_filter_zstd, text + "x\n");
  for (std::size_t block = 1; block < 40; block += 3) {
    EXPECT_EQ(read_text(good, {}, 1, {block, 2}).edges, expected) << block;
    EXPECT_EQ(read_text(bad, {}, 1, {block, 2}).error, "graph.txt:52: expected two labels, found \"x\"")
        << block;
  }
}

TEST(Decompression, CutAtAnyByteIsAnErrorOrNothing) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += std::to_string(i * 7919 % 1000) + " " + std::to_string(i) + "\n";
  for (const Filter& filter : kFilters) {
    const std::string whole = compressed(filter.add, text);
    ASSERT_EQ(read_text(whole).edges.size(), 40u) << filter.name;
    for (std::size_t size = 12; size < whole.size(); ++size) {
      const ReadResult result = read_text(whole.substr(0, size));
      ASSERT_THAT(result.error, testing::AnyOf(HasSubstr("truncated"), HasSubstr("damaged")))
          << filter.name << " " << size;
      ASSERT_EQ(result.category, 4);
    }
  }
}

TEST(Decompression, GarbageAfterTheEndIsAnError) {
  for (const Filter& filter : kFilters) {
    const ReadResult result = read_text(compressed(filter.add, "1 2\n") + "garbage");
    EXPECT_THAT(result.error, HasSubstr("damaged")) << filter.name;
  }
}

TEST(Decompression, NothingCompressedIsAnEmptyFile) {
  for (const Filter& filter : kFilters) {
    // libarchive's lz4 writer does not survive nothing; these are the bytes of the lz4 program.
    const std::string lz4 = "\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0\x05\x5d\xcc\x02"s;
    const ReadResult result = read_text(filter.name == "lz4"s ? lz4 : compressed(filter.add, ""));
    EXPECT_EQ(result.error, "") << filter.name;
    EXPECT_TRUE(result.edges.empty());
  }
}

TEST(Decompression, SkippableFramesAreSkipped) {
  const std::string skip = "\x53\x2A\x4D\x18\x03\0\0\0abc"s;
  const std::string one = compressed(archive_write_add_filter_zstd, "1 2\n");
  const std::string two = compressed(archive_write_add_filter_zstd, "3 4\n");
  EXPECT_EQ(read_text(skip + one + skip + two).edges, kEdges);
  EXPECT_THAT(read_text(skip.substr(0, 10)).error, HasSubstr("truncated"));
}

TEST(Decompression, ABombOfCommentsOrOfOneLabelStaysSmall) {
  const std::string comment =
      compressed(archive_write_add_filter_gzip, "#" + std::string(20 << 20, 'x') + "\n1 2\n3 4\n");
  EXPECT_EQ(read_text(comment).edges, kEdges);
  const std::string label = compressed(archive_write_add_filter_gzip, "1 2\n" + std::string(20 << 20, '7'));
  EXPECT_THAT(read_text(label).error, HasSubstr("graph.txt:2: line longer than the limit"));
}

TEST(Decompression, TakesTheGraphOutOfAnArchive) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"net/README.txt", "about\n"},
      {"net/out.net", "% asym unweighted\n1 2\n3 4\n"},
      {"net/meta.net", "x: y\n"}};
  const std::string tar = packed(archive_write_add_filter_gzip, archive_write_set_format_ustar, files);
  const std::string zip = packed(archive_write_add_filter_none, archive_write_set_format_zip, files);
  for (const std::string& bytes : {tar, zip}) {
    ReadResult result = read_text(bytes, {}, 2, {}, "net.bin");
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.edges, kEdges);
    EXPECT_EQ(result.first.facts.format, "KONECT");
    GraphOptions options;
    options.archive_member = "README.txt";
    EXPECT_THAT(read_text(bytes, options, 1, {}, "net.bin").error,
                HasSubstr("README.txt):1: expected two labels, found \"about\""));
    options.archive_member = "none";
    EXPECT_THAT(read_text(bytes, options, 1, {}, "net.bin").error,
                HasSubstr("it holds: net/README.txt, net/out.net"));
  }
  EXPECT_EQ(read_text(tar, {}, 1, {}, "x").first.facts.compression, "gzip, tar archive");
  GraphOptions options;
  options.archive_member = "a";
  EXPECT_THAT(read_text("1 2\n", options).error, HasSubstr("is no archive"));
}

ReadResult read_member(const std::string& bytes, const std::string& member) {
  GraphOptions options;
  options.archive_member = member;
  return read_text(bytes, options, 2, {}, "a.tar");
}

/// The same through a pipe.
ReadResult read_streamed_member(const std::string& bytes, const std::string& member) {
  const TemporaryFolder folder;
  const std::string path = folder.file("pipe");
  EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << bytes; });
  GraphOptions options;
  options.archive_member = member;
  ReadResult result = read_input(options, path, 2);
  writer.join();
  return result;
}

std::string tar_of(const std::vector<std::pair<std::string, std::string>>& files) {
  return packed(archive_write_add_filter_none, archive_write_set_format_ustar, files);
}

TEST(Decompression, TakesTheLastEditionOfAFileInAnArchive) {
  const std::string tar =
      tar_of({{"d/g.txt", "9 9\n"}, {"g.txt", "7 7\n"}, {"b.txt", "8 8\n"}, {"g.txt", "1 2\n3 4\n"}});
  EXPECT_EQ(read_member(tar, "g.txt").edges, kEdges);
  EXPECT_THAT(read_member(tar, "d/g.txt").edges, ElementsAre(Edge{"9", "9", 1}));
  EXPECT_EQ(read_text(tar_of({{"g.mtx", "7 7\n"}, {"g.mtx", "1 2\n3 4\n"}})).edges, kEdges);
}

TEST(Decompression, RefusesASecondEditionOnAStream) {
  const auto error = [](const std::vector<std::pair<std::string, std::string>>& files) {
    return read_streamed_member(tar_of(files), "g.txt").error;
  };
  EXPECT_THAT(error({{"g.txt", "7 7\n"}, {"b", "x"}, {"g.txt", "1 2\n"}}),
              HasSubstr("several members g.txt, and on a stream"));
  EXPECT_THAT(error({{"d/g.txt", "7 7\n"}, {"g.txt", "1 2\n"}}), HasSubstr("several members g.txt"));
  EXPECT_THAT(error({{"b", "x"}}), HasSubstr("no members g.txt; it holds: b"));
  const std::string tar = tar_of({{"b", "x"}, {"g.txt", "1 2\n3 4\n"}, {"d/g.txt", "7 7\n"}});
  EXPECT_EQ(read_streamed_member(tar, "g.txt").edges, kEdges);
}

TEST(Decompression, SaysThatAMemberIsItselfPacked) {
  const std::string tar = tar_of({{"x.mtx.gz", kGzip12}, {"y.tar", tar_of({{"z", "1 2\n"}})}});
  EXPECT_THAT(read_member(tar, "x.mtx.gz").error,
              HasSubstr("a.tar(x.mtx.gz): is itself compressed by gzip, which is not looked into; unpack"));
  EXPECT_THAT(read_member(tar, "y.tar").error, HasSubstr("a.tar(y.tar): is itself a tar archive"));
}

#endif

TEST(Decompression, EveryFlippedByteOfAGzipBodyIsFound) {
  constexpr std::size_t kLastDeflateByte = 15;
  ASSERT_EQ(read_text(kGzip12).edges.size(), 1u);
  for (std::size_t i = 10; i < kGzip12.size(); ++i) {
    std::string bytes = kGzip12;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    const ReadResult result = read_text(bytes);
    if (i != kLastDeflateByte)
      EXPECT_THAT(result.error, testing::AnyOf(HasSubstr("damaged"), HasSubstr("truncated"))) << i;
    else
      EXPECT_THAT(result.edges, ElementsAre(Edge{"1", "2", 1}));  // the bits after the end code mean nothing
  }
}

TEST(Decompression, ZeroBytesAfterGzipArePadding) {
  EXPECT_EQ(read_text(kGzip12 + std::string(1000, '\0')).edges.size(), 1u);
  EXPECT_THAT(read_text(kGzip12 + std::string(10, '\0') + kGzip12).error, HasSubstr("garbage"));
}

}  // namespace
}  // namespace tessera::test
