// zstd through libzstd alone, for builds without libarchive.
#pragma once
#include <memory>
#include <string>

#include "engine/io/byte_source.hpp"

namespace tessera {

std::unique_ptr<ByteSource> make_zstd_source(std::unique_ptr<PeekSource> below, const std::string& name);

}  // namespace tessera
