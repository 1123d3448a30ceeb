// Sums that do not depend on the order of their terms: the same bits for any number of threads, ranks
// and devices. Every term is cut into three (WideExactSum: six) multiples of fixed powers of two (the scheme
// of Demmel and Nguyen's binned sums with fixed bins); the pieces are integers, and integer addition is
// associative.
//
// All partial sums that are merged must share one `bound`. Terms are exact down to bound * 2^-78; what is
// below is rounded, each term by itself, so the order still does not matter.
#pragma once
#include <cmath>
#include <cstdint>

#include "kernels/base/host_device.hpp"

namespace tessera {

/// Integer sums of kNumFolds pieces a term. Units of limb f: 2^(exponent - 26 (f + 1)).
template <int kNumFolds>
struct FoldedSum {
  static constexpr int kFolds = kNumFolds;

  std::int64_t limbs[kFolds] = {};

  TESSERA_HD FoldedSum& operator+=(const FoldedSum& other) {
    for (int f = 0; f < kFolds; ++f) limbs[f] += other.limbs[f];
    return *this;
  }
  /// Takes away terms that have been added, exactly.
  TESSERA_HD FoldedSum& operator-=(const FoldedSum& other) {
    for (int f = 0; f < kFolds; ++f) limbs[f] -= other.limbs[f];
    return *this;
  }
  /// As if every term had been added `times` times; below 2^32.
  TESSERA_HD FoldedSum& operator*=(std::uint64_t times) {
    for (int f = 0; f < kFolds; ++f) limbs[f] *= static_cast<std::int64_t>(times);
    return *this;
  }
  bool operator==(const FoldedSum&) const = default;
};

using ExactSum = FoldedSum<3>;
/// For squares of small numbers: exact down to bound * 2^-156.
using WideExactSum = FoldedSum<6>;

/// The scale that a group of sums shares: every term v must satisfy |v| <= bound, or the sizes of all terms
/// of a sum must add up to kHeadroom * bound at most. (The first fold is exact for terms of 2^51 of its
/// units, and doubles that add up what it gave for 2^53.)
class ExactScale {
 public:
  static constexpr double kHeadroom = 0x1p24;
  static constexpr int kMaxFolds = WideExactSum::kFolds;
  static constexpr int kBitsPerFold = 26;
  /// Up to this many terms may be added to plain doubles of one fold before `deposit`.
  static constexpr std::uint64_t kMaxTermsPerDeposit = std::uint64_t{1} << 24;

  /// `bound` > 0 is rounded up to a power of two; 0 (nothing but zeros) is allowed.
  explicit ExactScale(double bound) {
    exponent_ = bound > 0 ? std::ilogb(bound) + 1 : 0;
    for (int f = 0; f < kMaxFolds; ++f) {
      quantum_[f] = std::ldexp(1.0, exponent_ - kBitsPerFold * (f + 1));
      magic_[f] = 1.5 * std::ldexp(quantum_[f], 52);
    }
  }
  double bound() const { return std::ldexp(1.0, exponent_); }
  /// Adding and subtracting magic(f) rounds to a multiple of the fold's unit.
  TESSERA_HD double magic(int fold) const { return magic_[fold]; }
  /// Adds what at most kMaxTermsPerDeposit terms gave for one fold.
  template <int kNumFolds>
  TESSERA_HD void deposit(int fold, double fold_sum, FoldedSum<kNumFolds>& sum) const {
    sum.limbs[fold] += static_cast<std::int64_t>(fold_sum / quantum_[fold]);
  }
  /// Adds one term.
  template <int kNumFolds>
  TESSERA_HD void add(double term, FoldedSum<kNumFolds>& sum) const {
    for (int f = 0; f < kNumFolds; ++f) {
      const double piece = (term + magic_[f]) - magic_[f];
      deposit(f, piece, sum);
      term -= piece;
    }
  }
  /// The sum, from the smallest fold up: the same integers give the same double.
  template <int kNumFolds>
  TESSERA_HD double value(const FoldedSum<kNumFolds>& sum) const {
    double total = 0;
    for (int f = kNumFolds; f-- > 0;) total += static_cast<double>(sum.limbs[f]) * quantum_[f];
    return total;
  }

 private:
  int exponent_ = 0;
  double quantum_[kMaxFolds];
  double magic_[kMaxFolds];
};

}  // namespace tessera
