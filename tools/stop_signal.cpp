#include "tools/stop_signal.hpp"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "engine/io/atomic_file.hpp"
#include "tools/exit_code.hpp"

namespace tessera::cli {
namespace {

constexpr unsigned kSecondsToStop = 2;
volatile std::sig_atomic_t first_signal = 0;
enum Writing : std::sig_atomic_t { nothing, itself, by_another };
volatile std::sig_atomic_t writing = nothing;
std::atomic<std::uint64_t> bytes_before = 0;                   // to pipes, when the limit was set
volatile std::sig_atomic_t tells_end = 0, is_on_terminal = 0;  // the end is to be told, and where

void set_limit() {
  bytes_before = bytes_written_to_pipes();
  alarm(kSecondsToStop);
}

/// Whether what is being written has come to nothing that would be left behind, or stalled.
bool may_end_writing() {
  if (writing == by_another) return false;
  return num_temporaries() == 0 && bytes_written_to_pipes() == bytes_before;
}

void on_stop(int signal) {
  if (first_signal != 0) _exit(kExitSignalBase + first_signal);
  first_signal = signal;
  set_limit();
}

/// Without the log, whose locks a handler may find taken, and without waiting for a reader.
void tell_end() {
  constexpr std::string_view kErase = "\r\x1b[K", kErasing = "\r\x1b[Ktessera: error: interrupted\n";
  const std::string_view text = is_on_terminal != 0 ? kErasing : kErasing.substr(kErase.size());
  pollfd output{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&output, 1, 0) != 1) return;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

void on_alarm(int) {
  if (writing != nothing && !may_end_writing()) return set_limit();
  if (tells_end != 0) tell_end();
  _exit(kExitSignalBase + first_signal);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void install_signal_handlers() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction inherited = {};
    sigaction(signal, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) handle(signal, on_stop);  // nohup, background jobs
  }
  handle(SIGALRM, on_alarm);
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
}

void tell_end_by_signal(bool on_terminal) {
  is_on_terminal = on_terminal ? 1 : 0;
  tells_end = 1;
}

void end_is_told() { tells_end = 0; }

int stop_signal() { return first_signal; }

bool stops_after_step() {
  static bool has_stopped = false;
  if (stop_requested() && !has_stopped) {
    has_stopped = true;
    set_limit();
  }
  return has_stopped;
}

WritingScope::WritingScope(bool writes_itself) { writing = writes_itself ? itself : by_another; }
WritingScope::~WritingScope() { writing = nothing; }

}  // namespace tessera::cli
