#include "kernels/cpu/cpu_vector_ops.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/cpu/cpu_exact_sum.hpp"
#include "kernels/cpu/cpu_threads.hpp"
#include "kernels/extrapolation.hpp"

namespace tessera::cpu {
namespace {

void merge_into(ExactSum& all, const ExactSum& own) { all += own; }
void merge_into(double& all, const double& own) { all = std::max(all, own); }
void merge_into(VectorSums& all, const VectorSums& own) {
  all.change_l1 += own.change_l1;
  all.change_squares += own.change_squares;
  all.change_max = std::max(all.change_max, own.change_max);
  all.total += own.total;
  all.dangling += own.dangling;
}
void merge_into(std::vector<VectorSums>& all, const std::vector<VectorSums>& own) {
  for (std::size_t q = 0; q < all.size(); ++q) merge_into(all[q], own[q]);
}

/// Calls work(first, last, own) for blocks of rows; every thread has its own `Sums`, merged at the end.
template <class Sums, class Work>
Sums reduce_blocks(std::uint64_t num_rows, std::uint64_t block, const Sums& zero, const Work& work) {
  Sums all = zero;
  const auto num_blocks = static_cast<std::int64_t>(ceil_div(num_rows, block));
#pragma omp parallel if (pays_threads(num_rows * (kTermBlock / block)))
  {
    Sums own = zero;
#pragma omp for schedule(static) nowait
    for (std::int64_t b = 0; b < num_blocks; ++b) {
      const std::uint64_t first = static_cast<std::uint64_t>(b) * block;
      work(first, std::min(first + block, num_rows), own);
    }
#pragma omp critical
    merge_into(all, own);
  }
  return all;
}

/// changes: new - old of `count` rows; used up.
void add_changes(const ExactScale& bound, bool squares, double* changes, std::uint64_t count,
                 VectorSums& sums) {
  double largest = sums.change_max;
#pragma omp simd reduction(max : largest)
  for (std::uint64_t i = 0; i < count; ++i) {
    changes[i] = std::abs(changes[i]);
    largest = std::max(largest, changes[i]);
  }
  sums.change_max = largest;
  if (squares) {
    double terms[kTermBlock];
    for (std::uint64_t i = 0; i < count; ++i) terms[i] = changes[i] * changes[i];
    add_terms(bound, terms, count, sums.change_squares);
  }
  add_terms(bound, changes, count, sums.change_l1);
}

/// Steps from `score` to new_value(row), leaves goal(that, score, row) there for a block of rows, and adds up
/// changes of the steps and the total of what is left.
template <class S, class NewValue, class Goal>
inline void update_block(std::uint64_t first, std::uint64_t last, const ExactScale& bound, bool squares,
                         const NewValue& new_value, const Goal& goal, S* score, VectorSums& sums) {
  double changes[kTermBlock], values[kTermBlock];
  for (std::uint64_t i = first; i < last; ++i) {
    const S step = static_cast<S>(new_value(i));
    changes[i - first] = static_cast<double>(step) - static_cast<double>(score[i]);
    const S value = goal(step, score[i], i);
    values[i - first] = static_cast<double>(value);
    score[i] = value;
  }
  add_changes(bound, squares, changes, last - first, sums);
  add_terms(bound, values, last - first, sums.total);
}

}  // namespace

template <class S>
void fill(S* vector, std::uint64_t size, S value) {
#pragma omp parallel for schedule(static) if (pays_threads(size))
  for (std::uint64_t i = 0; i < size; ++i) vector[i] = value;
}

template <class S>
void put_inputs(const S* vector, const S* scale, const InputPlaces& places, unsigned num_vectors, S* out) {
#pragma omp parallel for schedule(static) if (pays_threads(places.count * num_vectors))
  for (std::uint64_t i = 0; i < places.count; ++i) {
    const S factor = scale == nullptr ? S{1} : scale[i];
    S* target = out + std::uint64_t{places.place_of(i)} * num_vectors;
    for (unsigned q = 0; q < num_vectors; ++q) target[q] = vector[i * num_vectors + q] * factor;
  }
}

template <class S>
void select_vectors(const S* block, unsigned num_vectors, std::span<const unsigned> kept,
                    std::uint64_t num_rows, S* out) {
#pragma omp parallel for schedule(static) if (pays_threads(num_rows * kept.size()))
  for (std::uint64_t i = 0; i < num_rows; ++i)
    for (std::size_t q = 0; q < kept.size(); ++q) out[i * kept.size() + q] = block[i * num_vectors + kept[q]];
}

template <class S>
VectorSums rank_update(const RankUpdate& update, const double* y, const S* jump, const S* scale,
                       bool are_masses, const ExactScale& bound, bool squares, S* score,
                       std::uint64_t num_rows, double weight, S* origin) {
  const auto linked = [&](std::uint64_t i) { return update.link * y[i] + update.constant; };
  const auto jumping = [&](std::uint64_t i) {
    return update.link * y[i] + update.teleport * static_cast<double>(jump[i]) + update.constant;
  };
  const auto step = [](S value, S, std::uint64_t) { return value; };
  const auto further = [&](S value, S before, std::uint64_t i) {
    return extrapolated(weight, value, std::exchange(origin[i], before));
  };
  return reduce_blocks(
      num_rows, kTermBlock, VectorSums{}, [&](std::uint64_t first, std::uint64_t last, VectorSums& sums) {
        // Loops of their own: compilers make vectors of the plain ones.
        const auto update_rows = [&](const auto& value, const auto& goal) {
          update_block(first, last, bound, squares, value, goal, score, sums);
        };
        const auto go = [&](const auto& value) {
          origin == nullptr ? update_rows(value, step) : update_rows(value, further);
        };
        jump == nullptr ? go(linked) : go(jumping);
        if (scale == nullptr) return;
        double terms[kTermBlock];
        for (std::uint64_t i = first; i < last; ++i)
          terms[i - first] =
              static_cast<double>(score[i]) *
              (are_masses ? static_cast<double>(scale[i]) : static_cast<double>(scale[i] == S{0}));
        add_terms(bound, terms, last - first, sums.dangling);
      });
}

template <class S>
std::vector<VectorSums> walk_update(double continue_probability, double restart, const double* y,
                                    std::span<const VertexId> restart_rows, std::span<const double> weights,
                                    const ExactScale& bound, bool squares, const S* before, S* walk,
                                    std::uint64_t num_rows) {
  const std::size_t num_vectors = restart_rows.size();
  // Few enough rows that the changes of all vectors stay in the cache, one vector after the other.
  const std::uint64_t block = std::clamp<std::uint64_t>(4096 / num_vectors, 8, kTermBlock);
  using Sums = std::vector<VectorSums>;
  return reduce_blocks(
      num_rows, block, Sums(num_vectors), [&](std::uint64_t first, std::uint64_t last, Sums& sums) {
        for (std::size_t q = 0; q < num_vectors; ++q) {
          const double weight = weights.empty() ? 1 : weights[q];
          double changes[kTermBlock];
          for (std::uint64_t i = first; i < last; ++i) {
            const std::uint64_t at = i * num_vectors + q;
            const double jump = i == restart_rows[q] ? restart : 0.0;
            const S value = static_cast<S>(continue_probability * y[at] + jump);
            changes[i - first] = static_cast<double>(value) - static_cast<double>(before[at]);
            walk[at] = extrapolated(weight, value, walk[at]);
          }
          add_changes(bound, squares, changes, last - first, sums[q]);
        }
      });
}

template <class S>
VectorSums mark_rows(const double* y, const S* masses, const ExactScale& bound, S* marks,
                     std::uint64_t num_rows) {
  return reduce_blocks(num_rows, kTermBlock, VectorSums{},
                       [&](std::uint64_t first, std::uint64_t last, VectorSums& sums) {
                         double changes[kTermBlock], all[kTermBlock], unmarked[kTermBlock];
                         for (std::uint64_t i = first; i < last; ++i) {
                           const S mark = y[i] > 0 ? S{1} : marks[i];
                           changes[i - first] = static_cast<double>(mark - marks[i]);
                           marks[i] = mark;
                           if (masses == nullptr) continue;
                           all[i - first] = static_cast<double>(masses[i]);
                           unmarked[i - first] = mark == S{0} ? all[i - first] : 0.0;
                         }
                         add_changes(bound, false, changes, last - first, sums);
                         if (masses == nullptr) return;
                         add_terms(bound, all, last - first, sums.total);
                         add_terms(bound, unmarked, last - first, sums.dangling);
                       });
}

NormSums norm_sums(const double* y, std::uint64_t size, bool squares, const ExactScale& bound) {
  NormSums result;
  result.largest =
      reduce_blocks(size, kTermBlock, 0.0, [&](std::uint64_t first, std::uint64_t last, double& largest) {
        double block_largest = largest;
#pragma omp simd reduction(max : block_largest)
        for (std::uint64_t i = first; i < last; ++i) block_largest = std::max(block_largest, std::abs(y[i]));
        largest = block_largest;
      });
  // Integers hold no term above the bound.
  if (!((squares ? result.largest * result.largest : result.largest) <= bound.bound())) return result;
  result.sum = reduce_blocks(size, kTermBlock, ExactSum{},
                             [&](std::uint64_t first, std::uint64_t last, ExactSum& sums) {
                               double terms[kTermBlock];
                               for (std::uint64_t i = first; i < last; ++i)
                                 terms[i - first] = squares ? y[i] * y[i] : y[i];
                               add_terms(bound, terms, last - first, sums);
                             });
  return result;
}

#define TESSERA_INSTANTIATE(S)                                                                             \
  template void fill(S*, std::uint64_t, S);                                                                \
  template void put_inputs(const S*, const S*, const InputPlaces&, unsigned, S*);                          \
  template void select_vectors(const S*, unsigned, std::span<const unsigned>, std::uint64_t, S*);          \
  template VectorSums rank_update(const RankUpdate&, const double*, const S*, const S*, bool,              \
                                  const ExactScale&, bool, S*, std::uint64_t, double, S*);                 \
  template std::vector<VectorSums> walk_update(double, double, const double*, std::span<const VertexId>,   \
                                               std::span<const double>, const ExactScale&, bool, const S*, \
                                               S*, std::uint64_t);                                         \
  template VectorSums mark_rows(const double*, const S*, const ExactScale&, S*, std::uint64_t);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cpu
