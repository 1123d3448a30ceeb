// The largest entries of a vector: what cuda_backend.cpp forwards to.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/score_key.hpp"

namespace tessera::cuda {

/// See Backend::largest. values: in device memory. About 16 bytes of it for each entry that is found.
template <class S>
std::optional<std::vector<VectorEntry<S>>> largest(const S* values, std::uint64_t size, std::uint64_t count,
                                                   std::uint64_t most);

}  // namespace tessera::cuda
