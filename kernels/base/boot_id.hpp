// What tells one running system from every other.
#pragma once
#include <fstream>
#include <string>

namespace tessera {

/// New at every start of a system; empty where it does not say.
inline std::string boot_id() {
  std::string text;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), text);
  return text;
}

}  // namespace tessera
