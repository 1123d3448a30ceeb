#include "tools/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "kernels/base/median.hpp"
#include "kernels/base/seconds_since.hpp"
#include "tools/log.hpp"
#include "tools/session.hpp"
#include "tools/stop_signal.hpp"
#include "tools/terminal.hpp"

namespace tessera::cli {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval{100};
constexpr std::chrono::seconds kLogInterval{30};
constexpr double kMegabyte = 1e6;

}  // namespace

double StepTimes::total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

double StepTimes::median() const { return tessera::median(seconds); }

Progress::Progress(const GeneralOptions& general, bool is_root) {
  if (!is_root || general.quiet || general.no_progress) return;
  on_terminal_ = is_terminal(STDERR_FILENO);
  in_log_ = !on_terminal_ && general.verbose;
}

bool Progress::is_due() {
  if (!on_terminal_ && !in_log_) return false;
  const auto interval = on_terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kLogInterval);
  if (Clock::now() - last_shown_ < interval) return false;
  last_shown_ = Clock::now();
  return true;
}

void Progress::show(const std::string& text) {
  if (on_terminal_) return show_transient_line(text);
  log_detail(text);
}

void Progress::phase(const std::string& name) {
  if (on_terminal_) show_transient_line(name + " ...");
}

void Progress::done() {
  if (on_terminal_) erase_transient_line();
}

ReadProgress Progress::reading() {
  return [this, start = Clock::now()](std::uint64_t bytes_done, std::uint64_t bytes_total) {
    if (is_due()) {
      const double megabytes = static_cast<double>(bytes_done) / kMegabyte;
      const std::string total =
          bytes_total == 0 ? "" : fmt::format(" of {:.0f}", static_cast<double>(bytes_total) / kMegabyte);
      show(fmt::format("reading: {:.0f}{} MB, {:.0f} MB/s", megabytes, total,
                       megabytes / std::max(seconds_since(start), 1e-3)));
    }
    return !stop_requested();
  };
}

IterationObserver Progress::iterating(double tolerance, int max_iterations, StepTimes& times) {
  struct State {
    Clock::time_point last = Clock::now();
    std::vector<double> residuals;
  };
  auto state = std::make_shared<State>();
  return [this, tolerance, max_iterations, &times, state](const IterationProgress& step) {
    times.seconds.push_back(seconds_since(state->last));
    times.vector_steps += static_cast<std::uint64_t>(std::max(step.vectors_left, 1));
    state->last = Clock::now();
    if (step.iteration <= 1) state->residuals.clear();  // the next block of queries
    state->residuals.push_back(step.residual);
    if (is_due()) {
      const double left = tolerance > 0 ? seconds_to_go(state->residuals, tolerance, times.median()) : -1;
      const std::string eta = left < 0 ? "" : fmt::format(", about {:.0f} s left", left);
      const std::string queries = step.vectors_left > 1 ? fmt::format(", {} queries", step.vectors_left) : "";
      show(fmt::format("step {} of at most {}: change {:.3g}{}{}", step.iteration, max_iterations,
                       step.residual, queries, eta));
    }
    return !stops_after_step();
  };
}

double seconds_to_go(const std::vector<double>& residuals, double tolerance, double seconds_per_step) {
  constexpr std::size_t kHalf = 5;
  if (residuals.size() < 2 * kHalf + 1) return -1;
  const double now = residuals.back(), middle = residuals[residuals.size() - 1 - kHalf],
               before = residuals[residuals.size() - 1 - 2 * kHalf];
  if (!(now > 0) || !(middle > 0) || !(before > 0)) return -1;
  const double late = std::log(middle / now) / kHalf, early = std::log(before / middle) / kHalf;
  if (!(late > 0) || std::abs(late - early) > 0.2 * late) return -1;
  return std::max(0.0, std::log(now / tolerance) / late) * seconds_per_step;
}

}  // namespace tessera::cli
