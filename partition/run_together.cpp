// See run_together.hpp. Costs one small all_gather a phase when there are several ranks.
#include "partition/run_together.hpp"

#include <new>
#include <optional>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Errors of their own types stay what they are.
void run_alone(const std::function<void()>& phase) {
  try {
    phase();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw ResourceError("out of memory");
  } catch (const std::exception& error) {
    throw InternalError(error.what());
  } catch (...) {
    throw InternalError("an exception of an unknown type");
  }
}

std::optional<Error> error_of(const std::function<void()>& phase) {
  try {
    run_alone(phase);
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// One type of error.hpp for each category, so that callers may catch by type on every rank.
[[noreturn]] void throw_again(ErrorCategory category, const std::string& message) {
  switch (category) {
    case ErrorCategory::internal:
      throw InternalError(message);
    case ErrorCategory::usage:
      throw OptionError(message);
    case ErrorCategory::input:
      throw InputError(message);
    case ErrorCategory::resource:
      throw ResourceError(message);
    case ErrorCategory::interrupted:
      break;
  }
  throw Error(category, message);
}

}  // namespace

void run_together(Communicator& comm, const std::function<void()>& phase) {
  if (comm.size() == 1) return run_alone(phase);
  const std::optional<Error> mine = error_of(phase);
  const std::vector<std::uint64_t> categories =
      all_gather(comm, mine ? static_cast<std::uint64_t>(mine->category()) : 0);
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (categories[rank] == 0) continue;
    std::string message = rank == comm.rank() ? mine->what() : std::string();
    comm.broadcast(message, rank);
    throw_again(static_cast<ErrorCategory>(categories[rank]), message);
  }
}

}  // namespace tessera
