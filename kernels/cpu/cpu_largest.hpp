// The largest entries of a vector: what cpu_backend.cpp forwards to.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/score_key.hpp"

namespace tessera::cpu {

/// See Backend::largest.
template <class S>
std::optional<std::vector<VectorEntry<S>>> largest(const S* values, std::uint64_t size, std::uint64_t count,
                                                   std::uint64_t most);

}  // namespace tessera::cpu
