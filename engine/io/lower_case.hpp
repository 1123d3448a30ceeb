// Letters of ASCII, whatever the locale; other bytes stay.
#pragma once
#include <string>
#include <string_view>

namespace tessera {

inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace tessera
