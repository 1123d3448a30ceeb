#include "tools/option_table.hpp"

#include <algorithm>

namespace tessera::cli {

std::string OptionTable::joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

Option& OptionTable::add(Option option) {
  option.group = group_;
  option.defaults = option.get();
  return options_.emplace_back(std::move(option));
}

Option& OptionTable::positional(const std::string& name, std::string& target, const std::string& help) {
  Option& option = text(name, "FILE", target, help);
  option.positional = option.required = true;
  return option;
}

Option& OptionTable::flag(const std::string& name, bool& target, const std::string& help) {
  return add({.name = name,
              .help = help,
              .kind = OptionKind::flag,
              .set = [&target](const std::string& text) { target = parse_yes_no(text); },
              .get = [&target] { return std::vector<std::string>{target ? "yes" : "no"}; }});
}

Option& OptionTable::text(const std::string& name, const std::string& placeholder, std::string& target,
                          const std::string& help) {
  return add({.name = name,
              .placeholder = placeholder,
              .help = help,
              .set =
                  [&target](const std::string& text) {
                    if (text.empty()) throw OptionError("expected a value, found an empty one");
                    target = text;
                  },
              .get =
                  [&target] {
                    return target.empty() ? std::vector<std::string>{} : std::vector<std::string>{target};
                  }});
}

Option& OptionTable::texts(const std::string& name, const std::string& placeholder,
                           std::vector<std::string>& target, const std::string& help) {
  return add({.name = name,
              .placeholder = placeholder,
              .help = help,
              .repeatable = true,
              .set = [&target](const std::string& text) { target.push_back(text); },
              .clear = [&target] { target.clear(); },
              .get = [&target] { return target; }});
}

Option& OptionTable::number(const std::string& name, double& target, const Range& range,
                            const std::string& help) {
  return add({.name = name,
              .placeholder = "X",
              .help = help,
              .kind = OptionKind::number,
              .set = [&target, range](const std::string& text) { target = parse_number(text, range); },
              .get = [&target] { return std::vector<std::string>{number_text(target)}; }});
}

Option& OptionTable::count(const std::string& name, std::optional<std::uint64_t>& target, std::uint64_t low,
                           const std::string& help) {
  return add({.name = name,
              .placeholder = "N",
              .help = help,
              .kind = OptionKind::number,
              .set = [&target, low](const std::string& text) { target = parse_count(text, low); },
              .get = [&target]() -> std::vector<std::string> {
                if (!target) return {};
                return {std::to_string(*target)};
              }});
}

Option* OptionTable::find(const std::string& name) {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& option) { return option.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

std::vector<std::string> OptionTable::config_names() const {
  std::vector<std::string> names;
  for (const Option& option : options_)
    if (option.in_config) names.push_back(option.name);
  return names;
}

namespace {

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = indent, start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    if (column + (end - start) + 1 > width && column > indent) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ', ++column;
    }
    result += text.substr(start, end - start);
    column += end - start;
    start = end + 1;
  }
  return result;
}

std::string option_head(const Option& option) {
  if (option.positional) return option.placeholder;
  std::string head =
      option.letter ? fmt::format("-{}, --{}", option.letter, option.name) : "--" + option.name;
  if (!option.placeholder.empty()) head += " " + option.placeholder;
  return head;
}

}  // namespace

std::string options_help(const OptionTable& table) {
  constexpr std::size_t kIndent = 30, kWidth = 100;
  std::string text, group;
  for (const Option& option : table.options()) {
    if (option.positional) continue;
    if (option.group != group) text += fmt::format("\n{}:\n", group = option.group);
    std::string help = option.help;
    if (!option.defaults.empty() && option.kind != OptionKind::flag)
      help += fmt::format(" [{}]", option.defaults.front());
    const std::string head = "  " + option_head(option);
    text += head.size() + 2 <= kIndent ? head + std::string(kIndent - head.size(), ' ')
                                       : head + "\n" + std::string(kIndent, ' ');
    text += wrapped(help, kIndent, kWidth) + "\n";
  }
  return text;
}

}  // namespace tessera::cli
