// The options of one command, each declared once: name, help, allowed values and the variable it sets.
// The command line (Boost.Program_options), config files, help, suggestions, --print-config and the
// report's "options" are all made from this table.
#pragma once
#include <fmt/format.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/error.hpp"
#include "tools/nearest_name.hpp"
#include "tools/value_text.hpp"

namespace tessera::cli {

enum class OptionKind { text, number, flag };

struct Option {
  std::string name{}, placeholder{}, help{};
  OptionKind kind = OptionKind::text;
  char letter = 0;          ///< short form, as in -o
  bool positional = false;  ///< given without its name on the command line
  bool required = false;    ///< positional only
  bool repeatable = false;
  std::string opposite{};                           ///< what this one, when typed, overrules in a file
  bool in_config = true;                            ///< may stand in a config file and belongs to the report
  std::string group{};                              ///< heading in the help
  std::function<void(const std::string&)> set{};    ///< throws OptionError without the option's name
  std::function<void()> clear = [] {};              ///< repeatable: before the first set
  std::function<std::vector<std::string>()> get{};  ///< values in force; empty: not given and no default
  std::vector<std::string> defaults{};              ///< get() before anything was set
  std::string source = "default";                   ///< or "config FILE", "command line"
};

/// Allowed words of an option and what each stands for; the first of equal values is the one printed.
template <class E>
using Choices = std::vector<std::pair<std::string, E>>;

class OptionTable {
 public:
  /// Options added from now on stand under this heading.
  void group(std::string title) { group_ = std::move(title); }
  Option& add(Option option);

  Option& positional(const std::string& name, std::string& target, const std::string& help);
  Option& flag(const std::string& name, bool& target, const std::string& help);
  /// "" = not given.
  Option& text(const std::string& name, const std::string& placeholder, std::string& target,
               const std::string& help);
  Option& texts(const std::string& name, const std::string& placeholder, std::vector<std::string>& target,
                const std::string& help);
  Option& number(const std::string& name, double& target, const Range& range, const std::string& help);

  /// `unset`: a value that stands for "not given" and is not shown.
  template <class Int>
  Option& count(const std::string& name, Int& target, std::uint64_t low, std::uint64_t high,
                const std::string& help, std::optional<Int> unset = std::nullopt) {
    return add(
        {.name = name,
         .placeholder = "N",
         .help = help,
         .kind = OptionKind::number,
         .set = [&target, low,
                 high](const std::string& text) { target = static_cast<Int>(parse_count(text, low, high)); },
         .get = [&target, unset]() -> std::vector<std::string> {
           if (unset && target == *unset) return {};
           return {fmt::format("{}", target)};
         }});
  }
  Option& count(const std::string& name, std::optional<std::uint64_t>& target, std::uint64_t low,
                const std::string& help);

  /// What follows the message about another word than `words`: "; did you mean WORD?", or nothing.
  using Advice = std::string (*)(std::string_view typed, std::span<const std::string> words);
  template <class E>
  Option& choice(const std::string& name, E& target, const Choices<E>& choices, const std::string& help,
                 Advice advice = did_you_mean) {
    std::vector<std::string> words;
    for (const auto& [word, value] : choices) words.push_back(word);
    return add({.name = name,
                .placeholder = joined(words, "|"),
                .help = help,
                .set =
                    [&target, choices, words, advice](const std::string& text) {
                      for (const auto& [word, value] : choices)
                        if (word == text) return void(target = value);
                      throw OptionError(fmt::format("expected one of {}, found \"{}\"{}", joined(words, ", "),
                                                    text, advice(text, words)));
                    },
                .get = [&target, choices]() -> std::vector<std::string> {
                  for (const auto& [word, value] : choices)
                    if (value == target) return {word};
                  return {};
                }});
  }

  Option* find(const std::string& name);
  std::vector<Option>& options() { return options_; }
  const std::vector<Option>& options() const { return options_; }
  std::vector<std::string> config_names() const;

 private:
  static std::string joined(const std::vector<std::string>& words, const char* separator);
  std::vector<Option> options_;
  std::string group_;
};

/// The options as help text, by group, with their defaults.
std::string options_help(const OptionTable& table);

}  // namespace tessera::cli
