#include "engine/io/parse_blocks.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <exception>
#include <limits>

#include "kernels/base/error.hpp"

namespace tessera {

namespace {

struct NumberedChunk {
  std::uint64_t index;
  bool has_strings;
  EdgeChunk chunk;
};

/// The first failure in file order. Blocks are handed out in order, so every block before a failed one is
/// parsed to its end, and the same failure wins whatever the threads do.
class FirstFailure {
 public:
  void record(std::uint64_t index, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (index >= index_) return;
    index_ = index;
    failure_ = std::move(failure);
    stop_ = true;
  }
  bool stop() const { return stop_; }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::uint64_t index_ = std::numeric_limits<std::uint64_t>::max();
  std::exception_ptr failure_;
  std::atomic<bool> stop_{false};
};

int thread_count(const ReadTuning& tuning) {
  return tuning.num_threads > 0 ? tuning.num_threads : omp_get_max_threads();
}

struct ParseJob {
  BlockSource& source;
  const TextFormat& format;
  const std::string& name;
  const std::function<bool()>& progress;
  std::atomic<bool> strings;
  bool range;
  FirstFailure failure;

  LabelMode mode() const {
    return range ? LabelMode::range : strings ? LabelMode::string : LabelMode::integer;
  }
};

void parse_block(ParseJob& job, TextEdgeParser& parser, const TextBlock& block, std::uint32_t thread,
                 LineCounts& counts, std::vector<NumberedChunk>& chunks) {
  LabelMode mode = job.mode();
  TextEdgeParser::Outcome outcome = parser.parse(block.text(), mode);
  if (outcome == TextEdgeParser::Outcome::needs_strings) {
    job.strings = true;
    mode = LabelMode::string;
    outcome = parser.parse(block.text(), mode);
  }
  if (outcome == TextEdgeParser::Outcome::failed)
    throw InputError(fmt::format("{}:{}: {}", job.name,
                                 job.source.lines_before(block) + parser.counts().lines, parser.error()));
  counts.lines += parser.counts().lines;
  counts.zero_weights += parser.counts().zero_weights;
  counts.extra_columns += parser.counts().extra_columns;
  EdgeChunk chunk = parser.take_chunk();
  chunk.dictionary = thread;
  if (chunk.num_edges() != 0) chunks.push_back({block.index, mode == LabelMode::string, std::move(chunk)});
}

// One thread's loop over blocks.
void work(ParseJob& job, TextEdgeParser& parser, std::uint32_t thread, LineCounts& counts,
          std::vector<NumberedChunk>& chunks) {
  TextBlock block;
  while (!job.failure.stop()) {
    try {
      if (!job.source.next(block)) return;
      parse_block(job, parser, block, thread, counts, chunks);
      if (thread == 0 && job.progress && !job.progress())
        throw Error(ErrorCategory::interrupted, "interrupted while reading");
    } catch (...) {
      job.failure.record(block.index, std::current_exception());
    }
  }
}

// What the threads made, put in file order.
void merge(std::vector<std::vector<NumberedChunk>>& chunks_of, const std::vector<LineCounts>& counts_of,
           ParsedBlocks& result) {
  std::vector<NumberedChunk> all;
  for (auto& chunks : chunks_of) std::move(chunks.begin(), chunks.end(), std::back_inserter(all));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  for (NumberedChunk& numbered : all) {
    result.chunks.push_back(std::move(numbered.chunk));
    result.has_strings.push_back(numbered.has_strings);
    result.any_strings |= numbered.has_strings;
  }
  for (const LineCounts& counts : counts_of) {
    result.counts.lines += counts.lines;
    result.counts.zero_weights += counts.zero_weights;
    result.counts.extra_columns += counts.extra_columns;
  }
}

}  // namespace

ParsedBlocks parse_blocks(BlockSource& source, const TextFormat& format, const std::string& name,
                          LabelMode mode, const ReadTuning& tuning, const std::function<bool()>& progress) {
  const int threads = thread_count(tuning);
  ParseJob job{source, format, name, progress, mode == LabelMode::string, mode == LabelMode::range, {}};
  std::vector<std::vector<NumberedChunk>> chunks_of(threads);
  std::vector<LineCounts> counts_of(threads);
  ParsedBlocks result;
  result.dictionaries.resize(threads);
#pragma omp parallel num_threads(threads)
  {
    // OpenMP may give fewer threads than asked for; then some of these stay empty.
    const int thread = omp_get_thread_num();
    try {
      TextEdgeParser parser(format);
      work(job, parser, static_cast<std::uint32_t>(thread), counts_of[thread], chunks_of[thread]);
      result.dictionaries[thread] = parser.strings().take_dictionary();
    } catch (...) {
      job.failure.record(0, std::current_exception());
    }
  }
  job.failure.rethrow();
  merge(chunks_of, counts_of, result);
  return result;
}

namespace {

/// The keys of one chunk of integers as strings of `strings`.
void convert_chunk(EdgeChunk& chunk, StringInterner& strings) {
  const std::size_t keys = chunk.pairs.size() + chunk.wide_pairs.size();
  const bool wide = !chunk.wide_pairs.empty();
  std::vector<std::uint64_t> texts(keys);
  bool fits = true;
  for (std::size_t i = 0; i < keys; ++i) {
    char digits[20];
    const std::uint64_t value = wide ? chunk.wide_pairs[i] : chunk.pairs[i];
    const char* end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    texts[i] = strings.intern({digits, static_cast<std::size_t>(end - digits)});
    fits &= texts[i] >> 32 == 0;
  }
  chunk.pairs = Buffer<std::uint32_t>(fits ? keys : 0);
  chunk.wide_pairs = Buffer<std::uint64_t>(fits ? 0 : keys);
  for (std::size_t i = 0; i < keys; ++i) {
    if (fits)
      chunk.pairs[i] = static_cast<std::uint32_t>(texts[i]);
    else
      chunk.wide_pairs[i] = texts[i];
  }
}

}  // namespace

void convert_to_strings(ParsedBlocks& blocks, const ReadTuning& tuning) {
  const int threads = thread_count(tuning);
  const auto first_dictionary = static_cast<std::uint32_t>(blocks.dictionaries.size());
  blocks.dictionaries.resize(first_dictionary + threads);
  std::vector<StringInterner> strings(threads);
  FirstFailure failure;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::size_t c = 0; c < blocks.chunks.size(); ++c) {
    if (blocks.has_strings[c] || failure.stop()) continue;
    const int thread = omp_get_thread_num();
    try {
      convert_chunk(blocks.chunks[c], strings[thread]);
      blocks.chunks[c].dictionary = first_dictionary + static_cast<std::uint32_t>(thread);
      blocks.has_strings[c] = true;
    } catch (...) {
      failure.record(c, std::current_exception());
    }
  }
  failure.rethrow();
  for (int t = 0; t < threads; ++t) blocks.dictionaries[first_dictionary + t] = strings[t].take_dictionary();
  blocks.any_strings = true;
}

}  // namespace tessera
