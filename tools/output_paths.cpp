#include "tools/output_paths.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "engine/io/atomic_file.hpp"
#include "engine/io/input_file.hpp"
#include "engine/io/label_list_writer.hpp"
#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera::cli {

namespace {

/// And the lists of labels that lie beside some kinds of files, which are no options.
NamedPaths with_label_lists(const NamedPaths& outputs) {
  NamedPaths all = outputs;
  for (const auto& [name, path] : outputs)
    if (path.ends_with(".npy") || path.ends_with(".mtx"))
      all.emplace_back("the labels of " + name, label_list_path(path));
  return all;
}

/// By whatever way the paths go there, also where it does not exist yet.
bool are_same_file(const std::string& path, const std::string& other) {
  namespace fs = std::filesystem;
  if (path.empty() || other.empty()) return false;
  if (is_standard_output(path) || is_standard_output(other))
    return is_standard_output(path) && is_standard_output(other);
  if (path == "/dev/null") return false;
  std::error_code missing;
  if (fs::equivalent(path, other, missing)) return true;
  const auto whole = [](const std::string& p) {
    std::error_code unknown;  // a folder that may not be searched, or has no end
    const fs::path resolved = fs::weakly_canonical(fs::absolute(p, unknown), unknown);
    return unknown ? fs::path(p).lexically_normal() : resolved;
  };
  return whole(path) == whole(other);
}

}  // namespace

void check_distinct_outputs(const NamedPaths& paths) {
  const NamedPaths outputs = with_label_lists(paths);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto& [first, path] = outputs[j];
      const auto& [second, other_path] = outputs[i];
      if (!are_same_file(path, other_path)) continue;
      throw OptionError(is_standard_output(path)
                            ? fmt::format("{} and {} both go to standard output", first, second)
                            : fmt::format("{} and {} are the same file \"{}\"", first, second, path));
    }
}

void check_inputs_are_kept(const NamedPaths& inputs, const NamedPaths& outputs) {
  for (const auto& [input, path] : inputs)
    for (const auto& [output, other_path] : with_label_lists(outputs)) {
      if (path.empty() || path == "-" || other_path.empty() || other_path == "-") continue;
      std::error_code missing;  // what is not there yet is no input
      if (std::filesystem::is_regular_file(path, missing) &&
          std::filesystem::equivalent(path, other_path, missing))
        throw OptionError(fmt::format("{} and {} are the same file \"{}\", which would be replaced", input,
                                      output, other_path));
    }
}

void check_readable_inputs(const NamedPaths& inputs, Communicator& comm) {
  run_together(comm, [&] {
    if (!comm.is_root()) return;
    for (const auto& [name, path] : inputs) {
      if (path.empty() || path == "-") continue;
      std::error_code missing;
      const auto type = std::filesystem::status(path, missing).type();
      if (type != std::filesystem::file_type::fifo && type != std::filesystem::file_type::character)
        const InputFile file(path);
    }
  });
}

void check_writable_outputs(const NamedPaths& outputs, Communicator& comm) {
  run_together(comm, [&] {
    if (!comm.is_root()) return;
    for (const auto& [name, path] : outputs)
      if (!path.empty() && path != "-") check_writable(path);
  });
}

}  // namespace tessera::cli
