#include "tools/option_parser.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <map>

#include "tools/all_commands.hpp"
#include "tools/config_file.hpp"
#include "tools/value_text.hpp"

namespace po = boost::program_options;

namespace tessera::cli {
namespace {

struct Given {
  std::string source;  ///< "command line" or "config FILE"
  std::string place;   ///< front of an error message
  std::vector<std::string> values;
  bool is_common = false;  ///< a config file's key for every command
};
using GivenByName = std::map<std::string, Given>;

po::options_description boost_options(const OptionTable& table) {
  po::options_description description;
  const auto add = [&](const std::string& name, char letter, bool is_flag) {
    const std::string spec = letter ? name + "," + letter : name;
    auto* value = po::value<std::string>();
    description.add_options()(spec.c_str(), is_flag ? value->implicit_value("yes") : value, "");
  };
  for (const Option& option : table.options())
    if (!option.positional) add(option.name, option.letter, option.kind == OptionKind::flag);
  add("config", 0, false);
  add("print-config", 0, true);
  add("help", 'h', true);
  return description;
}

[[noreturn]] void throw_unknown_option(const std::string& typed, const Command& command,
                                       const po::options_description& description) {
  std::vector<std::string> names;
  for (const auto& option : description.options()) names.push_back("--" + option->long_name());
  throw OptionError(fmt::format("{}: unknown option {}{}", command.name(), typed,
                                did_you_mean(typed.substr(0, typed.find('=')), names)));
}

bool is_yes_or_no(const std::string& text) {
  try {
    return parse_yes_no(text), true;
  } catch (const OptionError&) {
    return false;
  }
}

/// Whether `given` is several letters, each of which is an option without a value.
bool are_flags(const std::string& given, const po::options_description& description) {
  return given.size() > 2 && given[0] == '-' && given[1] != '-' &&
         std::all_of(given.begin() + 1, given.end(), [&](char letter) {
           const po::option_description* option = description.find_nothrow(std::string("-") + letter, false);
           return option != nullptr && option->semantic()->min_tokens() == 0;
         });
}

/// A flag takes yes or no behind "=", or as the next argument; any other argument is not its own. "-q FILE"
/// becomes "--quiet=yes FILE".
std::vector<std::string> with_values_of_flags(std::vector<std::string> arguments,
                                              const po::options_description& description) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (are_flags(arguments[i], description)) {  // -qv: one by one
      const std::string others = std::string("-").append(arguments[i], 2);
      arguments[i].resize(2);
      arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, others);
    }
    const std::string& given = arguments[i];
    const bool is_long = given.starts_with("--");
    if (!is_long && given.size() > 2 && given[0] == '-' && given[2] == '=' &&
        description.find_nothrow(given.substr(0, 2), false) != nullptr)
      throw OptionError(fmt::format("{}: a short option takes its value without =: {} {}", given.substr(0, 2),
                                    given.substr(0, 2), given.substr(3)));
    if (given.size() < 2 || given[0] != '-' || (!is_long && given.size() > 2)) continue;
    const po::option_description* option = description.find_nothrow(is_long ? given.substr(2) : given, false);
    if (option == nullptr) continue;
    const bool is_last = i + 1 == arguments.size();
    if (option->semantic()->min_tokens() > 0)
      ++i;  // its value
    else if (is_last || !is_yes_or_no(arguments[i + 1]))
      arguments[i] = "--" + option->long_name() + "=yes";
  }
  return arguments;
}

std::vector<po::option> tokens_of(const Command& command, const std::vector<std::string>& arguments,
                                  const po::options_description& description) {
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    return po::command_line_parser(with_values_of_flags(arguments, description))
        .options(description)
        .style(style)
        .run()
        .options;
  } catch (const po::unknown_option& error) {
    throw_unknown_option(error.get_option_name(), command, description);
  } catch (const po::error& error) {
    throw OptionError(command.name() + ": " + error.what());
  }
}

/// Values by option name from the command line; positional arguments get the names of the table.
GivenByName from_command_line(Command& command, const std::vector<std::string>& arguments) {
  GivenByName given;
  std::vector<std::string> positional_names;
  for (const Option& option : command.options().options())
    if (option.positional) positional_names.push_back(option.name);
  std::size_t num_positional = 0;
  for (const po::option& token : tokens_of(command, arguments, boost_options(command.options()))) {
    std::string name = token.string_key, place = "--" + name;
    if (token.position_key >= 0 || name.empty()) {
      const bool repeats =
          !positional_names.empty() && command.options().find(positional_names.back())->repeatable;
      if (num_positional == positional_names.size() && repeats) --num_positional;
      if (num_positional == positional_names.size())
        throw OptionError(
            fmt::format("{}: unexpected argument \"{}\"; an option's value may be missing before it",
                        command.name(), token.value.empty() ? "" : token.value.front()));
      place = name = positional_names[num_positional++];
    }
    const std::string value = token.value.empty() ? "yes" : token.value.front();
    Given& entry = given.try_emplace(name, Given{"command line", place, {}}).first->second;
    const Option* option = command.options().find(name);
    if (!entry.values.empty() && !(option != nullptr && option->repeatable))
      throw OptionError(
          fmt::format("{}: given twice, as \"{}\" and \"{}\"", place, entry.values.front(), value));
    entry.values.push_back(value);
  }
  return given;
}

/// Names that the section may hold; for "" those of all commands together.
std::vector<std::string> names_of_section(const std::string& section, const std::string& place) {
  std::vector<std::string> names, commands;
  for (const CommandEntry& entry : all_commands()) {
    commands.emplace_back(entry.name);
    if (!section.empty() && section != entry.name) continue;
    const auto more = entry.make()->options().config_names();
    names.insert(names.end(), more.begin(), more.end());
  }
  if (names.empty())
    throw OptionError(
        fmt::format("{}unknown section [{}]{}", place, section, did_you_mean(section, commands)));
  return names;
}

GivenByName from_config(Command& command, const std::string& path, const ConfigReader& read_config) {
  GivenByName given;
  for (const ConfigEntry& entry : parse_config(read_config(path), path)) {
    const std::string place = fmt::format("{}:{}: ", path, entry.line);
    const auto names = names_of_section(entry.section, fmt::format("{}:{}: ", path, entry.section_line));
    if (std::find(names.begin(), names.end(), entry.key) == names.end())
      throw OptionError(
          fmt::format("{}unknown option {}{}", place, entry.key, did_you_mean(entry.key, names)));
    const Option* option = command.options().find(entry.key);
    if (option == nullptr || (!entry.section.empty() && entry.section != command.name())) continue;
    // A key in the command's own section wins over a common one; twice in one place is a mistake.
    const std::string source =
        fmt::format("config {}{}", path, entry.section.empty() ? "" : " [" + entry.section + "]");
    const Given fresh{source, place + entry.key, {}, entry.section.empty()};
    auto [found, is_new] = given.try_emplace(entry.key, fresh);
    if (!is_new && found->second.source != source) found->second = fresh;
    if (!found->second.values.empty() && !option->repeatable)
      throw OptionError(fmt::format("{}{}: given twice in this section", place, entry.key));
    found->second.values.push_back(entry.value);
  }
  return given;
}

bool takes(const CommandEntry& entry, const std::string& name, const std::vector<std::string>& values) {
  const std::unique_ptr<Command> command = entry.make();
  const Option* option = command->options().find(name);
  if (option == nullptr) return false;
  try {
    for (const std::string& value : values) option->set(value);
  } catch (const OptionError&) {
    return false;
  }
  return true;
}

/// Options of one name may have other values in other commands (kernel): a common key cannot suit them all.
std::string section_for(const std::string& name, const std::vector<std::string>& values) {
  std::string sections;
  for (const CommandEntry& entry : all_commands())
    if (takes(entry, name, values))
      sections += fmt::format("{}[{}]", sections.empty() ? "" : " or ", entry.name);
  if (sections.empty()) return "";
  return "; a key before the first section holds for every command, this value belongs under " + sections;
}

void apply(Command& command, const std::string& name, const Given& given) {
  Option& option = *command.options().find(name);
  option.clear();
  for (const std::string& value : given.values) {
    try {
      option.set(value);
    } catch (const OptionError& error) {
      throw OptionError(given.place + ": " + error.what() +
                        (given.is_common ? section_for(name, given.values) : ""));
    }
  }
  option.source = given.source;
}

/// Whether the command line has the option, a flag as yes.
bool is_set(const GivenByName& given, Command& command, const std::string& name) {
  const auto found = given.find(name);
  if (found == given.end()) return false;
  if (command.options().find(name)->kind != OptionKind::flag) return true;
  try {
    return parse_yes_no(found->second.values.back());
  } catch (const OptionError&) {
    return false;  // apply() says so
  }
}

std::string take(GivenByName& given, const std::string& name) {
  const auto found = given.find(name);
  if (found == given.end()) return "";
  const std::string value = found->second.values.front();
  if (value.empty()) throw OptionError("--" + name + ": expected a value, found an empty one");
  given.erase(found);
  return value;
}

}  // namespace

ParseOutcome parse_options(Command& command, const std::vector<std::string>& arguments,
                           const ConfigReader& read_config) {
  GivenByName given = from_command_line(command, arguments);
  if (!take(given, "help").empty()) return ParseOutcome::show_help;
  const std::string config = take(given, "config");
  const bool print_config = !take(given, "print-config").empty();
  if (!config.empty())
    for (const auto& [name, values] : from_config(command, config, read_config))
      if (!given.contains(name) && !is_set(given, command, command.options().find(name)->opposite))
        apply(command, name, values);
  for (const auto& [name, values] : given) apply(command, name, values);
  for (const Option& option : command.options().options())
    if (option.required && option.get().empty())
      throw OptionError(fmt::format("{}: missing {}; see: tessera {} --help", command.name(),
                                    option.placeholder, command.name()));
  command.check_options();
  check_inputs_are_kept({{"--config", config}}, command.outputs());
  return print_config ? ParseOutcome::print_config : ParseOutcome::run;
}

std::string config_of(Command& command) {
  std::string text = fmt::format("# tessera {} --config THIS_FILE\n[{}]\n", command.name(), command.name());
  for (const Option& option : command.options().options()) {
    if (!option.in_config) continue;
    for (const std::string& value : option.get()) text += option.name + " = " + config_value(value) + "\n";
  }
  return text;
}

}  // namespace tessera::cli
