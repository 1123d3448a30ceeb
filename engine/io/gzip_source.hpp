// gzip through zlib: all members, lengths and checksums verified. (libarchive 3.6 verifies neither.)
#pragma once
#include <memory>
#include <string>

#include "engine/io/byte_source.hpp"

namespace tessera {

std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<PeekSource> below, const std::string& name);

}  // namespace tessera
