// An input ready to be read as text: opened, its compression and archive layers taken off.
#pragma once
#include <memory>
#include <string>

#include "engine/io/byte_source.hpp"
#include "engine/io/input_file.hpp"
#include "engine/io/text_head.hpp"

namespace tessera {

struct OpenInput {
  std::string name;  ///< for messages: path, and the member of an archive
  std::unique_ptr<InputFile> file;
  FileSource* raw = nullptr;  ///< the lowest layer of `text`
  std::unique_ptr<PeekSource> text;
  std::string compression = "none";  ///< "gzip", "gzip, tar archive" ...
  /// Whether `file` can be read at any place as text.
  bool is_plain() const { return compression == "none" && file->is_regular(); }
};

/// Throws InputError. `archive_member` as in GraphOptions.
OpenInput open_input(const std::string& path, const std::string& archive_member);
/// Throws the InputError about --member of a file that is no archive.
[[noreturn]] void refuse_member(const std::string& name, const std::string& archive_member);
/// As many first bytes as are needed to see two lines of data (within limits).
TextHead read_head(OpenInput& input);

/// The whole text of a file, at once. Throws InputError, also when the file changes meanwhile.
TextHead read_whole(const std::string& path);

}  // namespace tessera
