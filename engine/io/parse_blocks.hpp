// Parses all blocks of a source on several threads. One rank's share of reading.
#pragma once
#include "engine/io/block_source.hpp"
#include "engine/io/edge_reader.hpp"
#include "engine/io/text_edge_parser.hpp"
#include "engine/io/text_format.hpp"

namespace tessera {

struct ParsedBlocks {
  std::vector<EdgeChunk> chunks;  ///< in file order, none empty
  /// By chunk: whether its keys index a dictionary (mode string) or are integers.
  std::vector<char> has_strings;
  std::vector<StringDictionary> dictionaries;
  LineCounts counts;
  bool any_strings = false;
};

/// Starts in `mode`; where integers turn out not to suffice, the blocks from there on hold strings.
/// Throws InputError "NAME:LINE: ..." of the first bad line, Error (interrupted) when `progress` says so.
ParsedBlocks parse_blocks(BlockSource& source, const TextFormat& format, const std::string& name,
                          LabelMode mode, const ReadTuning& tuning, const std::function<bool()>& progress);

/// Turns the chunks of integers into strings too (nothing is lost: they were canonical).
void convert_to_strings(ParsedBlocks& blocks, const ReadTuning& tuning);

}  // namespace tessera
