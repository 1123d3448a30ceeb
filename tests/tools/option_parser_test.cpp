// Command lines and config files, on two commands made for this.
#include "tools/option_parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "kernels/base/error.hpp"
#include "tools/all_commands.hpp"

namespace tessera::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

enum class Color { red, blue };

class PaintCommand : public Command {
 public:
  PaintCommand() : Command("paint", "Paints.", {}) {
    options_.positional("wall", wall, "what to paint").required = true;
    options_.number("width", width, {0, 10}, "width of the brush");
    options_.choice("color", color, Choices<Color>{{"red", Color::red}, {"blue", Color::blue}},
                    "of the paint");
    options_.texts("name", "NAME", names, "who paints").letter = 'n';
    options_.flag("wet", wet, "do not wait").letter = 'w';
    options_.flag("dry", dry, "wait").opposite = "wet";
    add_general_options(false);
  }
  int run(Session&) override { return 0; }
  void check_options() const override {
    if (wet && dry) throw OptionError("--wet and --dry do not go together");
  }
  std::string wall;
  double width = 2;
  Color color = Color::red;
  std::vector<std::string> names;
  bool wet = false, dry = false;
};

class WashCommand : public Command {
 public:
  WashCommand() : Command("wash", "Washes.", {}) {
    options_.choice("color", soap_, Choices<int>{{"green", 1}}, "of the soap");
  }
  int run(Session&) override { return 0; }

 private:
  int soap_ = 1;
};

struct Parsed {
  PaintCommand command;
  ParseOutcome outcome = ParseOutcome::run;
};

std::unique_ptr<Parsed> parsed(const std::vector<std::string>& arguments, const std::string& config = "") {
  auto result = std::make_unique<Parsed>();
  result->outcome = parse_options(result->command, arguments, [&](const std::string& path) {
    EXPECT_EQ(path, "f.ini");
    return config;
  });
  return result;
}

std::string complaint(const std::vector<std::string>& arguments, const std::string& config = "") {
  try {
    parsed(arguments, config);
  } catch (const OptionError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ParseOptions, ReadsValuesInEveryForm) {
  const auto given =
      parsed({"--width=3.5", "north", "--color", "blue", "-n", "Ann", "-nBo", "--name=Cy", "-w"});
  EXPECT_EQ(given->command.wall, "north");
  EXPECT_EQ(given->command.width, 3.5);
  EXPECT_EQ(given->command.color, Color::blue);
  EXPECT_THAT(given->command.names, ElementsAre("Ann", "Bo", "Cy"));
  EXPECT_TRUE(given->command.wet);
  EXPECT_EQ(given->outcome, ParseOutcome::run);
  EXPECT_EQ(given->command.options().find("width")->source, "command line");
  EXPECT_EQ(given->command.options().find("dry")->source, "default");
}

TEST(ParseOptions, FlagsTakeYesOrNoAndNothingElse) {
  EXPECT_TRUE(parsed({"--wet", "north"})->command.wet);
  EXPECT_FALSE(parsed({"--wet", "no", "north"})->command.wet);
  EXPECT_FALSE(parsed({"north", "--wet=no"})->command.wet);
  const auto bundled = parsed({"-qw", "north"});
  EXPECT_TRUE(bundled->command.wet);
  EXPECT_TRUE(bundled->command.general().quiet);
  EXPECT_EQ(bundled->command.wall, "north");
  EXPECT_THAT(complaint({"north", "--wet=maybe"}), StartsWith("--wet: "));
}

TEST(ParseOptions, TakesAnythingBehindTwoDashes) {
  EXPECT_EQ(parsed({"--", "--wet"})->command.wall, "--wet");
  EXPECT_EQ(parsed({"-"})->command.wall, "-");
}

TEST(ParseOptions, RefusesWithTheNameThatWasMeant) {
  EXPECT_EQ(complaint({"north", "--colour", "red"}), "paint: unknown option --colour; did you mean --color?");
  EXPECT_THAT(complaint({"north", "--wid", "3"}), HasSubstr("did you mean --width?"));  // no abbreviations
  EXPECT_EQ(complaint({"north", "--color", "bleu"}),
            "--color: expected one of red, blue, found \"bleu\"; did you mean blue?");
  EXPECT_THAT(complaint({"north", "--width", "11"}), StartsWith("--width: "));
  EXPECT_EQ(complaint({"north", "--width", "1", "--width", "2"}), "--width: given twice, as \"1\" and \"2\"");
  EXPECT_THAT(complaint({"north", "south"}), HasSubstr("unexpected argument \"south\""));
  EXPECT_THAT(complaint({}), HasSubstr("missing"));
  EXPECT_EQ(complaint({"north", "-n=Ann"}), "-n: a short option takes its value without =: -n Ann");
  EXPECT_EQ(complaint({"north", "--config", ""}), "--config: expected a value, found an empty one");
  EXPECT_THAT(complaint({"north", "--width"}), HasSubstr("width"));
  EXPECT_EQ(complaint({"north", "--wet", "--dry"}), "--wet and --dry do not go together");
}

TEST(ParseOptions, AsksForNothingWhereHelpIsWanted) {
  EXPECT_EQ(parsed({"--help"})->outcome, ParseOutcome::show_help);
  EXPECT_EQ(parsed({"-h", "--width", "99"})->outcome, ParseOutcome::show_help);
}

TEST(ConfigFile, GivesWhatTheCommandLineDoesNot) {
  const auto given =
      parsed({"--config", "f.ini", "--width", "1", "north"},
             "color = blue\n[paint]\nwidth = 3\nname = Ann\nname = Bo\n[wash]\ncolor = green\n");
  EXPECT_EQ(given->command.width, 1);
  EXPECT_EQ(given->command.color, Color::blue);
  EXPECT_THAT(given->command.names, ElementsAre("Ann", "Bo"));
  EXPECT_EQ(given->command.options().find("name")->source, "config f.ini [paint]");
  EXPECT_EQ(given->command.options().find("color")->source, "config f.ini");
}

TEST(ConfigFile, TheCommandsSectionWinsOverCommonKeys) {
  for (const char* text : {"width = 3\n[paint]\nwidth = 4\n", "[paint]\nwidth = 4\n"})
    EXPECT_EQ(parsed({"--config=f.ini", "north"}, text)->command.width, 4);
  // The command line replaces a list instead of adding to it.
  EXPECT_THAT(parsed({"--config=f.ini", "north", "-nCy"}, "[paint]\nname = Ann\n")->command.names,
              ElementsAre("Cy"));
}

TEST(ConfigFile, IsOverruledByTheOpposite) {
  const std::string text = "[paint]\ndry = yes\n";
  EXPECT_FALSE(parsed({"--config=f.ini", "north", "--wet"}, text)->command.dry);
  EXPECT_TRUE(parsed({"--config=f.ini", "north", "--wet=no"}, text)->command.dry);
}

TEST(ConfigFile, RefusesWithItsPlace) {
  const std::vector<std::string> arguments = {"--config=f.ini", "north"};
  EXPECT_EQ(complaint(arguments, "\nwidht = 3\n"), "f.ini:2: unknown option widht; did you mean width?");
  EXPECT_EQ(complaint(arguments, "[pain]\nwidth = 3\n"),
            "f.ini:1: unknown section [pain]; did you mean paint?");
  EXPECT_EQ(complaint(arguments, "[paint]\nwidth = 3\nwidth = 4\n"),
            "f.ini:3: width: given twice in this section");
  EXPECT_THAT(complaint(arguments, "[paint]\nwidth = x\n"), StartsWith("f.ini:2: width: "));
  EXPECT_THAT(complaint(arguments, "color = green\n"),
              HasSubstr("holds for every command, this value belongs under [wash]"));
  EXPECT_THAT(complaint(arguments, "[wash]\nwidth = 3\n"), StartsWith("f.ini:2: unknown option width"));
}

TEST(ConfigOf, RepeatsTheRun) {
  const auto first = parsed({"north", "--color=blue", "-na b", "-n", "#c", "--wet"});
  const std::string text = config_of(first->command);
  const auto again = parsed({"--config", "f.ini"}, text);
  EXPECT_EQ(again->command.wall, "north");
  EXPECT_EQ(again->command.color, Color::blue);
  EXPECT_THAT(again->command.names, ElementsAre("a b", "#c"));
  EXPECT_TRUE(again->command.wet);
  EXPECT_EQ(config_of(again->command), text);
  EXPECT_EQ(parsed({"north", "--print-config"})->outcome, ParseOutcome::print_config);
}

}  // namespace

/// In place of the program's own.
std::span<const CommandEntry> all_commands() {
  static constexpr std::array<CommandEntry, 2> commands{
      {{"paint", []() -> std::unique_ptr<Command> { return std::make_unique<PaintCommand>(); }},
       {"wash", []() -> std::unique_ptr<Command> { return std::make_unique<WashCommand>(); }}}};
  return commands;
}

}  // namespace tessera::cli
