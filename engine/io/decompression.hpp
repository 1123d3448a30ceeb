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

/// Names of the files in an archive, in its order; one that was replaced by appending comes again.
std::vector<std::string> archive_members(std::unique_ptr<PeekSource> below, const std::string& name);
/// The bytes of the file `member` of an archive, the last one of that name: so many of it precede.
std::unique_ptr<ByteSource> open_archive_member(std::unique_ptr<PeekSource> below, const std::string& name,
                                                const std::string& member, std::size_t num_older);
/// The same of a stream, where the last one is not known when the first one comes: there must be one that
/// `wanted` (a whole name, or its last part) means, or reading ends with an InputError.
std::unique_ptr<ByteSource> open_streamed_member(std::unique_ptr<PeekSource> below, const std::string& name,
                                                 const std::string& wanted);

/// The one of `members` that looks like a graph; `wanted` (a whole name, or its last part) decides when
/// given. Throws InputError listing the members where that is unclear.
std::string choose_member(const std::vector<std::string>& members, const std::string& wanted,
                          const std::string& name);

}  // namespace tessera
