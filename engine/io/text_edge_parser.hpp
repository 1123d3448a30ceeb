// Whole lines of text to edges: a tight loop for "digits separator digits newline", and a general path for
// everything else, which also words the errors. One parser a thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/io/edge_sink.hpp"
#include "engine/io/line_fields.hpp"
#include "engine/io/string_interner.hpp"
#include "engine/io/text_format.hpp"

namespace tessera {

enum class LabelMode { integer, string, range };

/// Readable bytes that must follow a block (their content does not matter).
inline constexpr std::size_t kBlockPadding = 64;
/// Longest line that is not a comment.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

struct LineCounts {
  std::uint64_t lines = 0;
  std::uint64_t zero_weights = 0;
  std::uint64_t extra_columns = 0;
};

class TextEdgeParser {
 public:
  enum class Outcome {
    parsed,
    needs_strings,  ///< mode integer met another label, and the format allows strings
    failed,
  };

  explicit TextEdgeParser(const TextFormat& format);

  /// Parses `block`: whole lines, the last one ends with a newline too; kBlockPadding bytes follow it.
  /// What an earlier block left is forgotten, except the strings.
  Outcome parse(std::string_view block, LabelMode mode);

  // After `parsed`:
  EdgeChunk take_chunk() const { return sink_.take_chunk(); }
  const LineCounts& counts() const { return counts_; }
  StringInterner& strings() { return strings_; }
  // After `failed`: what is wrong with the line after counts().lines - 1 others.
  const std::string& error() const { return error_; }

 private:
  template <bool kThird, bool kRange>
  const char* fast_lines(const char* p, const char* end);
  const char* fast_lines(const char* p, const char* end);
  const char* fast_third(const char* p, const char* end, double& value) const;
  bool is_separator(char c) const { return c == separators_[0] || c == separators_[1]; }

  const char* general_line(const char* p, const char* end);
  std::string_view content_of(std::string_view line) const;
  void edge_of(std::string_view line);
  std::uint64_t key_of(std::string_view label, bool is_target);
  double third_of(std::string_view line) const;

  const TextFormat& format_;
  bool fast_columns_;  // labels in columns 1 and 2, third value in column 3
  bool has_third_;
  char separators_[2];
  LabelMode mode_ = LabelMode::integer;
  LineFields fields_;
  EdgeSink sink_;
  StringInterner strings_;
  std::string prefixed_;
  LineCounts counts_;
  std::string error_;
};

}  // namespace tessera
