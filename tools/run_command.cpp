#include "tools/run_command.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <new>
#include <thread>

#include "kernels/base/lost_rank.hpp"
#include "partition/run_together.hpp"
#include "tools/all_commands.hpp"
#include "tools/exit_code.hpp"
#include "tools/help_text.hpp"
#include "tools/log.hpp"
#include "tools/memory.hpp"
#include "tools/option_parser.hpp"
#include "tools/stop_signal.hpp"
#include "tools/terminal.hpp"
#include "tools/text_output.hpp"
#include "tools/threads.hpp"
#include "tools/version.hpp"

namespace tessera::cli {
namespace {

/// Ranks that leave together because of an error of all do so at once, but for what they free.
constexpr double kWaitForOtherRanks = 3;

void print_on_root(const std::string& text, Communicator& comm) {
  run_together(comm, [&] {
    if (comm.is_root()) write_stdout(text);
  });
}

/// Read on rank 0, the same on every rank.
std::string read_config_file(const std::string& path, Communicator& comm) {
  std::string text;
  run_together(comm, [&] {
    if (!comm.is_root()) return;
    if (path == "-") throw OptionError("--config: expected a file, found -; standard input is for the graph");
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    std::array<char, 4096> chunk;
    while (file != nullptr) {
      const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), file.get());
      text.append(chunk.data(), count);
      if (count < chunk.size()) break;
    }
    if (file == nullptr || std::ferror(file.get()) != 0)
      throw OptionError("--config: " + path + ": " + system_error_text(errno));
  });
  comm.broadcast(text, 0);
  return text;
}

int run_with_report(Command& command, Session& session) {
  try {
    const int exit_code = command.run(session);
    session.comm().barrier();  // mpirun ends the job at the first code other than 0: all have written by now
    return exit_code;
  } catch (const Error& error) {
    if (error.category() == ErrorCategory::interrupted) {
      session.progress().done();
      session.report()["interrupted"] = true;
      session.write_report();
    }
    throw;
  }
}

std::unique_ptr<Command> find_command(const std::string& name) {
  std::vector<std::string> names{"help", "version"};
  for (const CommandEntry& entry : all_commands()) {
    if (name == entry.name) return entry.make();
    names.emplace_back(entry.name);
  }
  const char* what = name.starts_with('-') ? "option" : "command";
  const char* place =
      name.starts_with('-') ? "; options follow the command: tessera COMMAND ... [options]" : "";
  const std::string nearest = did_you_mean(name, names);
  const char* remedy = nearest.empty() && *place == 0 ? "; tessera help lists the commands" : "";
  throw OptionError(fmt::format("unknown {} \"{}\"{}{}{}", what, name, nearest, place, remedy));
}

/// For the words that take at most `count` arguments.
void refuse_more_arguments(const std::string& name, const std::vector<std::string>& rest, std::size_t count) {
  if (rest.size() > count)
    throw OptionError(fmt::format("{}: unexpected argument \"{}\"", name, rest[count]));
}

int run_command(const std::string& name, const std::vector<std::string>& arguments, Communicator& comm) {
  const std::unique_ptr<Command> command = find_command(name);
  const auto outcome = parse_options(*command, arguments,
                                     [&](const std::string& path) { return read_config_file(path, comm); });
  if (outcome == ParseOutcome::show_help) return print_on_root(command->help(), comm), kExitFine;
  if (outcome == ParseOutcome::print_config) return print_on_root(config_of(*command), comm), kExitFine;
  const GeneralOptions& general = command->general();
  const LogLevel level = general.quiet     ? LogLevel::errors
                         : general.verbose ? LogLevel::verbose
                                           : LogLevel::normal;
  start_log(level, comm.is_root());
  if (general.no_memory_check) skip_memory_checks();
  const int threads = start_threads(general.threads, comm);
  Session session(comm, name, general, command->options(), threads);
  return run_with_report(*command, session);
}

bool is_help_option(const std::string& argument) { return argument == "--help" || argument == "-h"; }

int dispatch(const std::vector<std::string>& arguments, Communicator& comm) {
  start_log(LogLevel::normal, comm.is_root());
  if (comm.is_root()) tell_end_by_signal(is_terminal(STDERR_FILENO));
  const std::string first = arguments.empty() ? "--help" : arguments.front();
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  const bool is_version = first == "--version" || first == "version";
  const bool is_help = is_help_option(first) || first == "help";
  if ((is_version || is_help) && rest.size() == 1 && is_help_option(rest.front()))
    return print_on_root(program_help(), comm), kExitFine;
  if (is_version) {
    refuse_more_arguments(first, rest, 0);
    return print_on_root(version_text(), comm), kExitFine;
  }
  if (is_help) {
    refuse_more_arguments(first, rest, 1);
    print_on_root(rest.empty() ? program_help() : topic_help(rest.front()), comm);
    return kExitFine;
  }
  return run_command(first, rest, comm);
}

/// Rank 0 speaks for an error of all ranks, who leave together. A rank whose error is its own finds nobody
/// to leave with: after a while it says so and ends, and the launcher ends the others.
int report_error(const std::string& message, int exit_code, double wait_seconds, Communicator& comm) {
  try {
    end_is_told();
    erase_transient_line();
    log_error(message);
    if (comm.size() > 1) {
      std::thread([message, exit_code, wait_seconds, rank = comm.rank()] {
        std::this_thread::sleep_for(std::chrono::duration<double>(wait_seconds));
        if (rank != 0) log_error_of_rank(rank, message);
        _exit(exit_code);
      }).detach();
    }
  } catch (const std::exception&) {  // no memory to say it, or no thread: nobody would end a rank that waits
    _exit(exit_code);
  }
  return exit_code;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, Communicator& comm) {
  try {
    return dispatch(arguments, comm);
  } catch (const LostRankError& error) {
    return report_error(error.what(), static_cast<int>(error.category()), kLeaveTogetherSeconds, comm);
  } catch (const Error& error) {
    const bool interrupted = error.category() == ErrorCategory::interrupted;
    const int signal = stop_signal() != 0 ? stop_signal() : SIGINT;
    return report_error(error.what(),
                        interrupted ? kExitSignalBase + signal : static_cast<int>(error.category()),
                        kWaitForOtherRanks, comm);
  } catch (const std::bad_alloc&) {
    return report_error("out of memory", static_cast<int>(ErrorCategory::resource), kWaitForOtherRanks, comm);
  } catch (const std::exception& error) {
    return report_error(std::string("internal error: ") + error.what(),
                        static_cast<int>(ErrorCategory::internal), kWaitForOtherRanks, comm);
  }
}

}  // namespace tessera::cli
