#include "tools/output_paths.hpp"

#include <fmt/format.h>

#include "engine/io/atomic_file.hpp"
#include "kernels/base/error.hpp"

namespace tessera::cli {

void check_distinct_outputs(const OutputPaths& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto& [first, path] = outputs[j];
      const auto& [second, other_path] = outputs[i];
      if (path.empty() || path != other_path) continue;
      throw OptionError(path == "-" ? fmt::format("{} and {} both go to standard output", first, second)
                                    : fmt::format("{} and {} are the same file \"{}\"", first, second, path));
    }
}

void check_writable_outputs(const OutputPaths& outputs) {
  for (const auto& [name, path] : outputs)
    if (!path.empty() && path != "-") check_writable(path);
}

}  // namespace tessera::cli
