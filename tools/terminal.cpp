#include "tools/terminal.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tessera::cli {

bool is_terminal(int descriptor) {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) return isatty(descriptor) == 1;
  const std::string launcher = "/proc/" + std::to_string(getppid()) + "/fd/" + std::to_string(descriptor);
  std::error_code error;
  const std::string target = std::filesystem::read_symlink(launcher, error).string();
  return !error && (target.starts_with("/dev/pts/") || target.starts_with("/dev/tty"));
}

}  // namespace tessera::cli
