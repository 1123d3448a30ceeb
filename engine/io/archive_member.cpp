// Which file of a downloaded archive is the graph: SuiteSparse packs NAME/NAME.mtx, KONECT out.NAME beside
// README and meta files, LDBC NAME.e beside NAME.v.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "engine/io/decompression.hpp"
#include "engine/io/lower_case.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

namespace {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool ends_with_any(const std::string& name, std::initializer_list<const char*> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(),
                     [&](const char* suffix) { return name.ends_with(suffix); });
}

bool is_table(const std::string& name) {
  return ends_with_any(name, {".txt", ".tsv", ".csv", ".ncol", ".dat"});
}

/// 2 = named like a graph, 1 = may be one, 0 = not.
int likeness(const std::string& path) {
  const std::string name = lower_case(base_name(path));
  if (name.empty() || name[0] == '.' || path.starts_with("__MACOSX/")) return 0;
  if (name.starts_with("out.") || ends_with_any(name, {".mtx", ".e", ".el", ".wel", ".edges", ".edgelist"}))
    return 2;
  if (is_table(name) && name.find("edge") != std::string::npos) return 2;
  for (const char* other : {"readme", "license", "licence", "meta.", "ent."})
    if (name.starts_with(other)) return 0;
  return is_table(name) ? 1 : 0;
}

/// X/X.mtx, which SuiteSparse packs with X/X_b.mtx and the like.
bool named_like_its_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return false;
  const std::string folder = base_name(path.substr(0, slash)), name = base_name(path);
  return name.substr(0, name.rfind('.')) == folder;
}

/// Each name once. A file that was replaced by appending is in an archive with its older editions.
std::vector<std::string> without_repeats(const std::vector<std::string>& names) {
  std::unordered_set<std::string> seen;
  std::vector<std::string> once;
  std::copy_if(names.begin(), names.end(), std::back_inserter(once),
               [&](const std::string& name) { return seen.insert(name).second; });
  return once;
}

[[noreturn]] void fail(const std::string& name, const char* what, const std::vector<std::string>& members) {
  constexpr std::size_t kShown = 20;
  std::string list;
  for (std::size_t i = 0; i < members.size() && i < kShown; ++i) list += (i == 0 ? "" : ", ") + members[i];
  if (members.size() > kShown) list += fmt::format(" and {} more", members.size() - kShown);
  throw InputError(fmt::format("{}: {}; it holds: {}", name, what, members.empty() ? "no files" : list));
}

}  // namespace

std::string choose_member(const std::vector<std::string>& all_members, const std::string& wanted,
                          const std::string& name) {
  const std::vector<std::string> members = without_repeats(all_members);
  std::vector<std::string> found;
  const auto keep = [&](const auto& matches) {
    found.clear();
    std::copy_if(members.begin(), members.end(), std::back_inserter(found), matches);
    return found.size() == 1;
  };
  if (!wanted.empty()) {
    if (keep([&](const std::string& m) { return m == wanted; })) return found[0];
    if (keep([&](const std::string& m) { return m.ends_with("/" + wanted); })) return found[0];
    fail(name,
         ("the archive has " + std::string(found.empty() ? "no" : "several") + " members " + wanted).c_str(),
         members);
  }
  if (keep([](const std::string& m) { return likeness(m) == 2; })) return found[0];
  const bool several = !found.empty();
  if (keep([](const std::string& m) { return likeness(m) == 2 && named_like_its_folder(m); }))
    return found[0];
  if (!several && keep([](const std::string& m) { return likeness(m) == 1; })) return found[0];
  if (!several && found.empty())
    fail(name, "no file in the archive is named like a graph; choose one with --member", members);
  fail(name, "several files in the archive may be the graph; choose one with --member", members);
}

}  // namespace tessera
