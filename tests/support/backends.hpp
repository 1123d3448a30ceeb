// The backends that answer on this machine; tests of several run on each.
#pragma once
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/base/error.hpp"

namespace tessera::test {

/// Tests of devices have matrices of sizes at which one with room for tiles and so many multiprocessors does
/// each of the things that are tested (H100, H200). A smaller one takes other ways, which they do not expect.
inline constexpr unsigned kTestedMultiprocessors = 64;
inline constexpr const char* kNoDevice =
    "no device answers that is like an H100 or larger, or this build has no CUDA";

inline bool answers(const std::string& backend) {
  try {
    const auto found = make_backend<float>(backend);
    const TilingLimits limits = found->tiling_limits();
    return found->memory_is_host() || (limits.holds_tiles && limits.bins.at_once >= kTestedMultiprocessors);
  } catch (const ResourceError&) {
    return false;
  }
}

/// "cpu", and "cuda" where this build has it and a device answers that tests are for.
inline std::vector<std::string> usable_backends() {
  std::vector<std::string> usable;
  for (const std::string& name : backend_names())
    if (name != "auto" && answers(name)) usable.push_back(name);
  return usable;
}

/// Those, or the one that TESSERA_TEST_BACKEND names: for runs that are about one of them.
inline std::vector<std::string> tested_backends() {
  const char* only = std::getenv("TESSERA_TEST_BACKEND");
  return only == nullptr ? usable_backends() : std::vector<std::string>{only};
}

}  // namespace tessera::test
