// SIGINT, SIGTERM and SIGHUP: the first asks the work to stop at its next step, the second (or two seconds
// without a next step, or behind it, outside of writing) ends the process. SIGPIPE and SIGXFSZ are ignored,
// so that writes fail.
#pragma once

namespace tessera::cli {

void install_signal_handlers();

/// From now on the end after two seconds is told on stderr; on a terminal in the place of a line of progress.
void tell_end_by_signal(bool on_terminal);
/// No more: an error is told, and leaving may take longer.
void end_is_told();

/// 0, or the signal that asked this process to stop.
int stop_signal();
inline bool stop_requested() { return stop_signal() != 0; }
/// The same, asked behind a step: what is left to do has two seconds from now on.
bool stops_after_step();

/// While one exists the process is not ended by the two-second limit as long as a file has a temporary, which
/// must be removed or renamed, or somebody reads the bytes that go to a pipe. Where another process of the
/// group writes, that one's end is the end of all.
class WritingScope {
 public:
  explicit WritingScope(bool writes_itself = true);
  ~WritingScope();
  WritingScope(const WritingScope&) = delete;
  WritingScope& operator=(const WritingScope&) = delete;
};

}  // namespace tessera::cli
