// The backends that answer on this machine; tests of several run on each.
#pragma once
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/base/error.hpp"

namespace tessera::test {

inline bool answers(const std::string& backend) {
  try {
    make_backend<float>(backend);
    return true;
  } catch (const ResourceError&) {
    return false;
  }
}

/// "cpu", and "cuda" where this build has it and a device answers.
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
