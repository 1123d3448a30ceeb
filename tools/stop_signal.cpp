#include "tools/stop_signal.hpp"

#include <unistd.h>
#include <csignal>
#include <initializer_list>

namespace tessera::cli {
namespace {

constexpr unsigned kSecondsToStop = 2;
volatile std::sig_atomic_t first_signal = 0;
volatile std::sig_atomic_t is_writing = 0;

void on_stop(int signal) {
  if (first_signal != 0) _exit(128 + first_signal);
  first_signal = signal;
  alarm(kSecondsToStop);
}

void on_alarm(int) {
  if (is_writing == 0) _exit(128 + first_signal);
  alarm(kSecondsToStop);
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
  for (int signal : {SIGINT, SIGTERM}) {
    struct sigaction inherited = {};
    sigaction(signal, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) handle(signal, on_stop);  // nohup, background jobs
  }
  handle(SIGALRM, on_alarm);
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
}

int stop_signal() { return first_signal; }

WritingScope::WritingScope() { is_writing = 1; }
WritingScope::~WritingScope() { is_writing = 0; }

}  // namespace tessera::cli
