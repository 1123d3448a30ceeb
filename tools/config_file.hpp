// INI files of --config and --print-config. Our own reader, because '#' inside a value belongs to the
// value (`output = a#b.tsv`): only a line that begins with # or ; is a comment.
//
//   key = value          before any section: for every command that has such an option
//   [pagerank]           from here on: for this command only
//   personalization = "  a value that begins or ends with a blank, with \\ \" \n \t escapes"
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::cli {

struct ConfigEntry {
  std::string section, key, value;
  std::uint64_t line = 0, section_line = 0;  ///< 0: before the first section
};

/// Throws OptionError "NAME:LINE: ..." for a line that is neither of the three.
std::vector<ConfigEntry> parse_config(const std::string& text, const std::string& name);

/// `value` as it must stand in a config file, quoted where needed.
std::string config_value(const std::string& value);

}  // namespace tessera::cli
