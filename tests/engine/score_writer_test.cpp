#include "engine/io/score_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "kernels/base/error.hpp"
#include "tests/engine/file_size_limit.hpp"
#include "tests/support/sample_graph.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera {
namespace {

using namespace test;  // NOLINT: the helpers of tests/support
using testing::HasSubstr;

struct Sample {
  LabelTable labels;
  std::vector<double> scores;
  std::optional<std::string> query;
  Ranking ranking() const { return {query, {{"score", scores}}}; }
};

std::string written(std::span<const Ranking> rankings, const LabelTable& labels, ScoreFormat format,
                    std::optional<std::uint64_t> top = {}, int num_ranks = 1) {
  const TemporaryFolder folder;
  run_ranks(num_ranks, [&](Communicator& comm) {
    write_rankings(rankings, block_of(labels, comm), {folder.file("out"), format, top}, comm);
  });
  std::string text = file_bytes(folder.file("out"));
  if (format == ScoreFormat::npy) text += file_bytes(folder.file("out.labels.txt"));
  return text;
}

std::string written(const Sample& sample, ScoreFormat format, std::optional<std::uint64_t> top = {}) {
  const Ranking ranking = sample.ranking();
  return written({&ranking, 1}, sample.labels, format, top);
}

Sample abc() { return {string_labels({"a", "b", "c"}), {0.25, 0.5, 0.25}, {}}; }

TEST(ScoreFormat, FollowsTheSuffix) {
  EXPECT_EQ(score_format_of("-"), ScoreFormat::tsv);
  EXPECT_EQ(score_format_of("/dev/null"), ScoreFormat::tsv);
  EXPECT_EQ(score_format_of("x.tsv"), ScoreFormat::tsv);
  EXPECT_EQ(score_format_of("x.csv"), ScoreFormat::csv);
  EXPECT_EQ(score_format_of("x.json"), ScoreFormat::json);
  EXPECT_EQ(score_format_of("x.npy"), ScoreFormat::npy);
  try {
    score_format_of("x.txt");
    FAIL();
  } catch (const OptionError& error) {
    EXPECT_THAT(error.what(), HasSubstr(".tsv, .csv, .json or .npy"));
  }
}

TEST(ScoreWriter, SortsByScoreAndTiesByLabel) {
  EXPECT_EQ(written(abc(), ScoreFormat::tsv), "node\tscore\nb\t0.5\na\t0.25\nc\t0.25\n");
  EXPECT_EQ(written(abc(), ScoreFormat::csv), "node,score\nb,0.5\na,0.25\nc,0.25\n");
  EXPECT_EQ(written(abc(), ScoreFormat::tsv, 2), "node\tscore\nb\t0.5\na\t0.25\n");
  EXPECT_EQ(written(abc(), ScoreFormat::tsv, 0), "node\tscore\n");
  EXPECT_EQ(written(abc(), ScoreFormat::tsv, 99), written(abc(), ScoreFormat::tsv));
}

TEST(ScoreWriter, TakesBothZerosForATie) {
  const Sample sample{range_labels(3, 1), {-0.0, 0.0, -1.0}, {}};

  EXPECT_EQ(written(sample, ScoreFormat::tsv), "node\tscore\n1\t-0\n2\t0\n3\t-1\n");
}

TEST(ScoreWriter, QuotesLabelsThatWouldNotReadBack) {
  const Sample sample{
      string_labels({"", "#x", "=1+1", "a b", "a\tb", "p,q", "say \"hi\""}), {7, 6, 5, 4, 3, 2, 1}, {}};

  EXPECT_EQ(written(sample, ScoreFormat::tsv),
            "node\tscore\n\"\"\t7\n\"#x\"\t6\n=1+1\t5\na b\t4\n\"a\tb\"\t3\np,q\t2\n\"say \"\"hi\"\"\"\t1\n");
  EXPECT_THAT(written(sample, ScoreFormat::csv), HasSubstr("=1+1,5\na b,4\na\tb,3\n\"p,q\",2\n"));
}

TEST(ScoreWriter, PutsQueriesInFront) {
  Sample first = abc(), second = abc();
  first.query = "a\tx";
  second.query = "c";
  second.scores = {0, 0, 1};
  const std::vector<Ranking> rankings{first.ranking(), second.ranking()};

  EXPECT_EQ(written(rankings, first.labels, ScoreFormat::tsv, 1),
            "query\tnode\tscore\n\"a\tx\"\tb\t0.5\nc\tc\t1\n");
  const auto json = nlohmann::json::parse(written(rankings, first.labels, ScoreFormat::json, 2));
  ASSERT_EQ(json["rankings"].size(), 2u);
  EXPECT_EQ(json["rankings"][0]["query"], "a\tx");
  EXPECT_EQ(json["rankings"][1]["query"], "c");
  EXPECT_EQ(json["rankings"][1]["nodes"][0], (nlohmann::json{{"node", "c"}, {"score", 1}}));
}

TEST(ScoreWriter, WritesTheSameOfTheBestAloneAsOfAll) {
  const LabelTable labels = string_labels({"a", "b", "c", "d", "e", "f"});
  const std::vector<double> scores{0.5, 0, 0.25, 0.5, 0.125, 0}, best{0.5, 0.5, 0.25, 0.125};
  const std::vector<VertexId> nodes{0, 3, 2, 4};
  for (const bool queries : {false, true})
    for (const ScoreFormat format :
         {ScoreFormat::tsv, ScoreFormat::csv, ScoreFormat::json, ScoreFormat::table})
      for (const int ranks : {1, 3}) {
        const std::optional<std::string> query = queries ? std::optional<std::string>("c") : std::nullopt;
        const Ranking of_all{query, {{"score", scores}}}, of_best{query, {{"score", best}}, nodes};
        EXPECT_EQ(written({&of_best, 1}, labels, format, 4, ranks),
                  written({&of_all, 1}, labels, format, 4, ranks));
        EXPECT_EQ(written({&of_best, 1}, labels, format, 3, ranks),
                  written({&of_all, 1}, labels, format, 3, ranks));
      }
  const Ranking of_best{{}, {{"score", best}}, nodes};
  EXPECT_THROW(written({&of_best, 1}, labels, ScoreFormat::npy), InternalError);
}

TEST(ScoreWriter, WritesSeveralColumns) {
  const std::vector<double> authority{1, 2}, hub{4, 3};
  const Ranking ranking{{}, {{"authority", authority}, {"hub", hub}}};

  EXPECT_EQ(written({&ranking, 1}, range_labels(2, 0), ScoreFormat::csv),
            "node,authority,hub\n1,2,3\n0,1,4\n");
  const auto json = nlohmann::json::parse(written({&ranking, 1}, range_labels(2, 0), ScoreFormat::json));
  EXPECT_EQ(json["rankings"][0]["nodes"][1], (nlohmann::json{{"node", 0}, {"authority", 1}, {"hub", 4}}));
}

TEST(ScoreWriter, JsonIsValidForAnyLabels) {
  const Sample sample{
      string_labels({"\"q\"\\", "bell\x07", "caf\xC3\xA9", "cut\xC3", "\xED\xA0\x80"}), {5, 4, 3, 2, 1}, {}};

  const auto json = nlohmann::json::parse(written(sample, ScoreFormat::json));

  std::vector<std::string> names;
  for (const auto& node : json["rankings"][0]["nodes"]) names.push_back(node["node"]);
  EXPECT_THAT(names, testing::ElementsAre("\"q\"\\", "bell\x07", "caf\xC3\xA9", "cut\xEF\xBF\xBD",
                                          "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));
}

TEST(ScoreWriter, JsonHasIntegersAsNumbersWhereReadersHoldThemExactly) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 53;
  const Sample sample{integer_labels({7, kLargest, kLargest + 1}), {3, 2, 1}, "9007199254740993"};

  const std::string text = written(sample, ScoreFormat::json);

  EXPECT_THAT(text, HasSubstr("\"node\": 7,"));
  EXPECT_THAT(text, HasSubstr("\"node\": 9007199254740992,"));
  EXPECT_THAT(text, HasSubstr("\"node\": \"9007199254740993\","));
  EXPECT_THAT(text, HasSubstr("\"query\": \"9007199254740993\""));
}

TEST(ScoreWriter, JsonWithoutNodesIsValid) {
  EXPECT_TRUE(nlohmann::json::parse(written(Sample{}, ScoreFormat::json))["rankings"][0]["nodes"].empty());
  EXPECT_TRUE(nlohmann::json::parse(written({}, {}, ScoreFormat::json))["rankings"].empty());
}

TEST(ScoreWriter, NpyHoldsScoresInVertexOrderAndLabelsBeside) {
  const std::vector<double> authority{0.25, 0.5, 0.125}, hub{4, 3, 2};
  const Ranking ranking{{}, {{"authority", authority}, {"hub", hub}}};

  const std::string bytes = written({&ranking, 1}, range_labels(3, 1), ScoreFormat::npy);

  ASSERT_EQ(bytes.size(), 128 + 6 * sizeof(double) + 6);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_THAT(bytes, HasSubstr("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2, ), }"));
  EXPECT_EQ(bytes[127], '\n');
  std::vector<double> values(6);
  std::memcpy(values.data(), bytes.data() + 128, 6 * sizeof(double));
  EXPECT_THAT(values, testing::ElementsAre(0.25, 4, 0.5, 3, 0.125, 2));
  EXPECT_EQ(bytes.substr(128 + 6 * sizeof(double)), "1\n2\n3\n");
}

TEST(ScoreWriter, NpyHasARowForEachQuery) {
  Sample first = abc(), second = abc();
  first.query = "a";
  second.query = "b";
  const std::vector<Ranking> rankings{first.ranking(), second.ranking()};

  EXPECT_THAT(written(rankings, first.labels, ScoreFormat::npy), HasSubstr("'shape': (2, 3, )"));
  EXPECT_THAT(written(abc(), ScoreFormat::npy), HasSubstr("'shape': (3, )"));
}

TEST(ScoreWriter, AFailedNpyLeavesTheOldScoresWithTheirLabels) {
  constexpr std::uint64_t kMany = 20000;  // 160,000 bytes of scores, 108,894 of labels
  const Sample old = abc(), next{range_labels(kMany, 1), std::vector<double>(kMany, 0.125), {}};
  const TemporaryFolder folder;
  const auto write = [&](const Sample& sample) {
    run_ranks(3, [&](Communicator& comm) {
      const Ranking ranking = sample.ranking();
      write_rankings({&ranking, 1}, block_of(sample.labels, comm),
                     {folder.file("p.npy"), ScoreFormat::npy, {}}, comm);
    });
  };
  write(old);
  const std::string scores = file_bytes(folder.file("p.npy"));
  {
    const FileSizeLimit limit(1 << 17);
    EXPECT_THROW(write(next), ResourceError);
  }

  EXPECT_TRUE(file_bytes(folder.file("p.npy")) == scores);
  EXPECT_EQ(file_bytes(folder.file("p.npy.labels.txt")), "a\nb\nc\n");
  EXPECT_EQ(folder.num_files(), 2u);
}

TEST(ScoreWriter, NpyRefusesTopAndStandardOutput) {
  EXPECT_THROW(written(abc(), ScoreFormat::npy, 2), OptionError);
  const Sample sample = abc();
  const Ranking ranking = sample.ranking();
  EXPECT_THROW(write_rankings({&ranking, 1}, sample.labels, {"-", ScoreFormat::npy, {}}, *make_single_rank()),
               OptionError);
}

TEST(ScoreWriter, TableIsAlignedCutAndHarmless) {
  const Sample sample{
      string_labels({"a\x1b[31m", std::string(50, 'b'), "caf\xC3\xA9"}), {1.0 / 3, 0.5, 2e-9}, {}};

  EXPECT_EQ(written(sample, ScoreFormat::table),
            "   node                                      score\n"
            "1  bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb...  0.5\n"
            "2  a\\x1b[31m                                 0.333333\n"
            "3  caf\xC3\xA9                                      2e-09\n");
}

TEST(ScoreWriter, RefusesScoresThatAreNoNumbers) {
  const Sample sample{range_labels(2, 0), {1, std::numeric_limits<double>::quiet_NaN()}, {}};

  EXPECT_THROW(written(sample, ScoreFormat::tsv), InternalError);
}

TEST(ScoreWriter, AFullDeviceEndsAllRanksWithTheSameError) {
  const Sample sample{range_labels(200000, 0), std::vector<double>(200000, 0.125), {}};
  const Ranking ranking = sample.ranking();
  std::atomic<int> errors = 0;
  run_ranks(3, [&](Communicator& comm) {
    try {
      write_rankings({&ranking, 1}, block_of(sample.labels, comm), {"/dev/full", ScoreFormat::tsv, {}}, comm);
    } catch (const ResourceError& error) {
      errors += std::string(error.what()).find("No space left") != std::string::npos;
    }
  });
  EXPECT_EQ(errors, 3);
}

TEST(ScoreWriter, ABadScoreOnOneRankEndsAllRanks) {
  Sample sample{range_labels(9, 0), std::vector<double>(9, 0.125), {}};
  sample.scores[8] = std::numeric_limits<double>::infinity();
  const Ranking ranking = sample.ranking();
  const TemporaryFolder folder;
  std::atomic<int> errors = 0;
  run_ranks(3, [&](Communicator& comm) {
    try {
      write_rankings({&ranking, 1}, block_of(sample.labels, comm), {folder.file("out"), ScoreFormat::tsv, {}},
                     comm);
    } catch (const InternalError&) {
      ++errors;
    }
  });
  EXPECT_EQ(errors, 3);
  EXPECT_EQ(folder.num_files(), 0u);
}

TEST(ScoreWriter, IsTheSameFileForAnyNumberOfRanks) {
  std::mt19937_64 random(3);
  constexpr std::uint64_t kMany = 200000;  // several pieces from each rank
  Sample sample{range_labels(kMany, 1), std::vector<double>(kMany), {}};
  for (double& score : sample.scores) score = static_cast<double>(random() % 5000) / 4096;  // many ties
  const Ranking ranking = sample.ranking();
  for (const auto format : {ScoreFormat::tsv, ScoreFormat::json, ScoreFormat::npy, ScoreFormat::table}) {
    const auto top = format == ScoreFormat::table ? std::optional<std::uint64_t>(1000) : std::nullopt;
    const std::string expected = written({&ranking, 1}, sample.labels, format, top);
    for (const int num_ranks : {2, 3, 4, 7})
      EXPECT_TRUE(written({&ranking, 1}, sample.labels, format, top, num_ranks) == expected)
          << num_ranks << " ranks, format " << static_cast<int>(format);
  }
}

RC_GTEST_PROP(ScoreWriter, NumbersReadBackTheSame, ()) {
  const auto bits = *rc::gen::arbitrary<std::uint64_t>();
  double score = 0;
  std::memcpy(&score, &bits, sizeof score);
  RC_PRE(std::isfinite(score));

  const std::string text = written(Sample{range_labels(1, 0), {score}, {}}, ScoreFormat::tsv);

  RC_ASSERT(text.starts_with("node\tscore\n0\t"));
  RC_ASSERT(std::strtod(text.c_str() + 13, nullptr) == score);
}

}  // namespace
}  // namespace tessera
