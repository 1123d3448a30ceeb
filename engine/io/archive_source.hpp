// libarchive as a ByteSource: other compressions than gzip, and the files in archives.
#pragma once
#include <memory>
#include <string>

#include "engine/io/decompression.hpp"

namespace tessera {

std::unique_ptr<ByteSource> make_filter_source(Layer layer, std::unique_ptr<PeekSource> below,
                                               const std::string& name);

}  // namespace tessera
