// Sums that do not depend on the order of their terms: the same bits for any number of threads, ranks
// and devices. Every term is cut into three multiples of fixed powers of two (the scheme of Demmel and
// Nguyen's binned sums with fixed bins); the pieces are integers, and integer addition is associative.
//
// All partial sums that are merged must share one `bound`. Terms are exact down to bound * 2^-78; what is
// below is rounded, each term by itself, so the order still does not matter.
#pragma once
#include <cmath>
#include <cstdint>

#include "kernels/base/host_device.hpp"

namespace tessera {

struct ExactSum {
  static constexpr int kFolds = 3;
  static constexpr int kBitsPerFold = 26;
  /// Up to this many terms may be added to plain doubles of one fold before `deposit`.
  static constexpr std::uint64_t kMaxTermsPerDeposit = std::uint64_t{1} << 24;

  std::int64_t limbs[kFolds] = {0, 0, 0};  // units of 2^(exponent - 26), 2^(exponent - 52), 2^(exponent - 78)

  ExactSum& operator+=(const ExactSum& other) {
    for (int f = 0; f < kFolds; ++f) limbs[f] += other.limbs[f];
    return *this;
  }
  bool operator==(const ExactSum&) const = default;
};

/// The scale that a group of ExactSums shares: every term v must satisfy |v| <= bound.
class ExactScale {
 public:
  /// `bound` > 0 is rounded up to a power of two; 0 (nothing but zeros) is allowed.
  explicit ExactScale(double bound) {
    exponent_ = bound > 0 ? std::ilogb(bound) + 1 : 0;
    for (int f = 0; f < ExactSum::kFolds; ++f) {
      quantum_[f] = std::ldexp(1.0, exponent_ - ExactSum::kBitsPerFold * (f + 1));
      magic_[f] = 1.5 * std::ldexp(quantum_[f], 52);
    }
  }
  /// Adding and subtracting magic(f) rounds to a multiple of quantum(f).
  TESSERA_HD double magic(int fold) const { return magic_[fold]; }
  TESSERA_HD double quantum(int fold) const { return quantum_[fold]; }
  /// Adds the fold sums of at most kMaxTermsPerDeposit terms.
  void deposit(const double fold_sums[ExactSum::kFolds], ExactSum& sum) const {
    for (int f = 0; f < ExactSum::kFolds; ++f)
      sum.limbs[f] += static_cast<std::int64_t>(fold_sums[f] / quantum_[f]);
  }
  /// The sum, correctly rounded from its integer.
  double value(const ExactSum& sum) const {
    __extension__ using Wide = __int128;
    Wide total = 0;
    for (std::int64_t limb : sum.limbs) total = (total << ExactSum::kBitsPerFold) + limb;
    return std::ldexp(static_cast<double>(total), exponent_ - ExactSum::kBitsPerFold * ExactSum::kFolds);
  }

 private:
  int exponent_ = 0;
  double quantum_[ExactSum::kFolds];
  double magic_[ExactSum::kFolds];
};

/// Adds terms one at a time; the inner loop of the vector kernels. Not for more than kMaxTermsPerDeposit
/// terms between two calls of flush().
struct ExactAccumulator {
  double fold_sums[ExactSum::kFolds] = {0, 0, 0};

  TESSERA_HD void add(const ExactScale& scale, double term) {
    for (int f = 0; f < ExactSum::kFolds; ++f) {
      const double piece = (term + scale.magic(f)) - scale.magic(f);
      fold_sums[f] += piece;
      term -= piece;
    }
  }
  void flush(const ExactScale& scale, ExactSum& sum) {
    scale.deposit(fold_sums, sum);
    for (double& s : fold_sums) s = 0;
  }
};

}  // namespace tessera
