// What this program was built from and with.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace tessera::cli {

std::string version_text();             ///< of `tessera --version`, several lines
nlohmann::ordered_json version_json();  ///< the same for reports

}  // namespace tessera::cli
