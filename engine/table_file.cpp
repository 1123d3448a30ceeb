#include "engine/table_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

/// Where this user keeps what can be made again; empty when there is no such place. A relative
/// XDG_CACHE_HOME counts as not set (XDG base directory specification).
std::string cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') return cache;
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.cache";
}

}  // namespace

std::string name_for_files(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  return name;
}

std::string json_complaint(const std::exception& error) {
  using nlohmann::json;
  if (const auto* parsing = dynamic_cast<const json::parse_error*>(&error))
    return fmt::format("no JSON at byte {}", parsing->byte);
  if (dynamic_cast<const json::type_error*>(&error) != nullptr)
    return "a value of another kind than expected";
  const std::string text = error.what();  // "[json.exception.NAME.ID] key 'x' not found"
  const bool has_name = text.starts_with("[json.exception.") && text.find("] ") != std::string::npos;
  return has_name ? text.substr(text.find("] ") + 2) : text;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

std::string table_path(const std::string& name) {
  const std::string folder = cache_folder();
  if (folder.empty())
    throw ResourceError("neither XDG_CACHE_HOME nor HOME names a folder: no place for the performance table");
  return folder + "/tessera/" + name + ".table.json";
}

TableText read_table(const std::string& name, const TableText& fallback, Communicator& comm) {
  TableText found = fallback;
  run_together(comm, [&] {
    if (!comm.is_root() || name.empty() || cache_folder().empty()) return;
    const std::string path = table_path(name);
    std::error_code missing;
    if (!std::filesystem::is_regular_file(path, missing)) return;
    std::ifstream file(path);
    if (!file) return;
    found.path = path;
    found.text.assign(std::istreambuf_iterator<char>(file), {});
  });
  comm.broadcast(found.text, 0);
  comm.broadcast(found.path, 0);
  return found;
}

}  // namespace tessera
