#include "tools/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "engine/io/terminal_text.hpp"

namespace tessera::cli {
namespace {

std::mutex line_mutex;  // progress comes from a reader's thread
bool line_is_shown = false;

std::shared_ptr<spdlog::logger>& logger() {
  static std::shared_ptr<spdlog::logger> instance = [] {
    const char* term = std::getenv("TERM");
    const bool colour =
        std::getenv("NO_COLOR") == nullptr && (term == nullptr || std::string(term) != "dumb");
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(colour ? spdlog::color_mode::automatic
                                                                             : spdlog::color_mode::never);
    auto made = std::make_shared<spdlog::logger>("tessera", sink);
    made->set_pattern("%^%n: %l:%$ %v");
    return made;
  }();
  return instance;
}

void log(spdlog::level::level_enum level, const std::string& message) {
  if (!logger()->should_log(level)) return;
  erase_transient_line();
  logger()->log(level, "{}", escape_for_terminal(message));
}

}  // namespace

void start_log(LogLevel level, bool is_root) {
  if (!is_root) return logger()->set_level(spdlog::level::off);
  switch (level) {
    case LogLevel::errors:
      return logger()->set_level(spdlog::level::err);
    case LogLevel::normal:
      return logger()->set_level(spdlog::level::info);
    case LogLevel::verbose:
      return logger()->set_level(spdlog::level::debug);
  }
}

void log_error(const std::string& message) { log(spdlog::level::err, message); }
void log_warning(const std::string& message) { log(spdlog::level::warn, message); }
void log_info(const std::string& message) { log(spdlog::level::info, message); }
void log_detail(const std::string& message) { log(spdlog::level::debug, message); }

void log_error_of_rank(int rank, const std::string& message) {
  logger()->set_level(spdlog::level::err);
  log(spdlog::level::err, "rank " + std::to_string(rank) + ": " + message);
}

void show_transient_line(const std::string& text) {
  const std::lock_guard lock(line_mutex);
  std::fprintf(stderr, "\r%s\x1b[K", escape_for_terminal(text).c_str());
  std::fflush(stderr);
  line_is_shown = true;
}

void erase_transient_line() {
  const std::lock_guard lock(line_mutex);
  if (line_is_shown) std::fputs("\r\x1b[K", stderr);
  line_is_shown = false;
}

}  // namespace tessera::cli
