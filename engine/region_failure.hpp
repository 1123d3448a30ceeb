// Carries an exception out of a parallel region: OpenMP ends the program when one crosses its border, and
// memory may run out in any thread.
#pragma once
#include <atomic>
#include <exception>
#include <mutex>

namespace tessera {

/// One for each region, made before it. Work of a region runs inside guard(); rethrow() comes after it.
class RegionFailure {
 public:
  /// Runs `work`, unless an earlier call has failed; keeps the first exception.
  template <class Work>
  void guard(const Work& work) noexcept {
    if (failed_) return;
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
};

}  // namespace tessera
