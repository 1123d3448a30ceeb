// The exceptions of the library. Library code throws one of these, or std::bad_alloc where memory for vectors
// runs out in an algorithm; only tools/ prints and exits.
// `category` decides the exit code of the program (see docs/exit-codes.md) and survives being sent
// from the rank that failed to all others (partition/run_together.hpp).
#pragma once
#include <stdexcept>
#include <string>

namespace tessera {

enum class ErrorCategory : int {
  internal = 1,       ///< a fault of the program
  usage = 2,          ///< an option or its value
  input = 4,          ///< the user's data; the message names file, line and what was expected
  resource = 5,       ///< memory, disk, device, communication
  interrupted = 130,  ///< SIGINT, SIGTERM or SIGHUP
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCategory category, const std::string& message)
      : std::runtime_error(message), category_(category) {}
  ErrorCategory category() const { return category_; }

 private:
  ErrorCategory category_;
};

struct InputError : Error {
  explicit InputError(const std::string& message) : Error(ErrorCategory::input, message) {}
};
struct OptionError : Error {
  explicit OptionError(const std::string& message) : Error(ErrorCategory::usage, message) {}
};
struct ResourceError : Error {
  explicit ResourceError(const std::string& message) : Error(ErrorCategory::resource, message) {}
};
/// Too little memory for one way of doing something, where there may be another.
struct NoRoomError : ResourceError {
  using ResourceError::ResourceError;
};
struct InternalError : Error {
  explicit InternalError(const std::string& message) : Error(ErrorCategory::internal, message) {}
};

/// Guards public entry points: throws InternalError with `message` when `condition` is false.
inline void require(bool condition, const char* message) {
  if (!condition) throw InternalError(message);
}

/// "errno text" for system call failures, e.g. "No such file or directory".
std::string system_error_text(int error_number);

}  // namespace tessera
