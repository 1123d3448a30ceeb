// Adding a short array of terms to an exact sum, one fold after the other so that each loop vectorises:
// the pieces are multiples of one power of two and their sums stay below 2^53 of it, so that any order of
// additions gives the same bits.
#pragma once
#include <cstdint>

#include "kernels/base/exact_sum.hpp"

namespace tessera::cpu {

/// Rows that a thread takes at a time: their terms stay in L1.
inline constexpr std::uint64_t kTermBlock = 512;
static_assert(kTermBlock <= ExactScale::kMaxTermsPerDeposit);

/// terms: `count` <= kTermBlock numbers within the scale's bound; used up.
template <int kFolds>
inline void add_terms(const ExactScale& scale, double* terms, std::uint64_t count, FoldedSum<kFolds>& sum) {
  for (int f = 0; f < kFolds; ++f) {
    const double magic = scale.magic(f);
    double fold_sum = 0;
#pragma omp simd reduction(+ : fold_sum)
    for (std::uint64_t i = 0; i < count; ++i) {
      const double piece = (terms[i] + magic) - magic;
      terms[i] -= piece;
      fold_sum += piece;
    }
    scale.deposit(f, fold_sum, sum);
  }
}

}  // namespace tessera::cpu
