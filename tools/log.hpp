// Log lines on stderr, rank 0 only. Text may hold labels and paths of any bytes; they are escaped here.
#pragma once
#include <string>

namespace tessera::cli {

enum class LogLevel { errors, normal, verbose };

/// Ranks other than 0 stay silent but for log_error_of_rank.
void start_log(LogLevel level, bool is_root);
void log_error(const std::string& message);
void log_warning(const std::string& message);
void log_info(const std::string& message);    ///< shown unless --quiet
void log_detail(const std::string& message);  ///< shown with --verbose
/// An error that this rank alone has met; shown whatever the rank.
void log_error_of_rank(int rank, const std::string& message);

/// A text that is rewritten in place on a terminal; the next log line erases it.
void show_transient_line(const std::string& text);
void erase_transient_line();

}  // namespace tessera::cli
