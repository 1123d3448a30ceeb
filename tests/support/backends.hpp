// The backends that answer on this machine; tests of several run on each.
#pragma once
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

}  // namespace tessera::test
