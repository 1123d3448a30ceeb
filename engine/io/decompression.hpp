// Layers of compression and archives, found by their first bytes.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/byte_source.hpp"

namespace tessera {

enum class Layer { gzip, zstd, bzip2, xz, lz4, tar, zip };

/// The layer that bytes starting like `head` (512 bytes or all) are in, if any.
std::optional<Layer> find_layer(std::string_view head);
const char* layer_name(Layer layer);
inline bool is_archive(Layer layer) { return layer >= Layer::tar; }

/// The decompressed bytes of `below`. Every member or frame is read, checksums are verified, garbage after
/// the end is an error. `name` is for messages. Not for archives.
std::unique_ptr<ByteSource> decompress(Layer layer, std::unique_ptr<PeekSource> below,
                                       const std::string& name);

/// Names of the files in an archive, in its order.
std::vector<std::string> archive_members(std::unique_ptr<PeekSource> below, const std::string& name);
/// The bytes of the file `member` of an archive.
std::unique_ptr<ByteSource> open_archive_member(std::unique_ptr<PeekSource> below, const std::string& name,
                                                const std::string& member);

/// The one of `members` that looks like a graph; `wanted` (a whole name, or its last part) decides when
/// given. Throws InputError listing the members where that is unclear.
std::string choose_member(const std::vector<std::string>& members, const std::string& wanted,
                          const std::string& name);

}  // namespace tessera
