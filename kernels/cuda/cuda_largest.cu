// The largest entries of a vector without a sort: keys are counted by one digit after the other, from the
// highest on, until it is known which key the last entry wanted has; then all with such a key or a larger one
// are collected.
#include <algorithm>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_largest.hpp"
#include "kernels/cuda/device_memory.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kDigitBits = 11, kDigits = 1u << kDigitBits, kThreads = 512, kMostBlocks = 528;

template <class Key>
constexpr unsigned kNumDigits = (sizeof(Key) * 8 - 1 + kDigitBits - 1) / kDigitBits;  // a key has no sign

/// Of keys whose digits above this one, which begins at bit `shift`, are `above`.
template <class S>
__global__ void __launch_bounds__(kThreads)
    count_digits_kernel(const S* values, std::uint64_t size, ScoreKey<S> above, unsigned shift,
                        unsigned long long* counts) {
  __shared__ unsigned own[kDigits];
  for (unsigned digit = threadIdx.x; digit < kDigits; digit += kThreads) own[digit] = 0;
  __syncthreads();
  const std::uint64_t stride = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < size; i += stride) {
    const ScoreKey<S> key = score_key(values[i]) >> shift;
    if (key >> kDigitBits == above) atomicAdd(own + (key & (kDigits - 1)), 1u);
  }
  __syncthreads();
  for (unsigned digit = threadIdx.x; digit < kDigits; digit += kThreads)
    if (own[digit] > 0) atomicAdd(counts + digit, static_cast<unsigned long long>(own[digit]));
}

template <class S>
__global__ void __launch_bounds__(kThreads)
    collect_kernel(const S* values, std::uint64_t size, ScoreKey<S> least, unsigned long long* num_found,
                   std::uint64_t* indices, S* found) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < size; i += stride) {
    const S value = values[i];
    if (score_key(value) < least) continue;
    const unsigned long long place = atomicAdd(num_found, 1ull);
    indices[place] = i;
    found[place] = value;
  }
}

unsigned num_blocks(std::uint64_t size) {
  return static_cast<unsigned>(std::min<std::uint64_t>(ceil_div<std::uint64_t>(size, kThreads), kMostBlocks));
}

}  // namespace

template <class S>
std::optional<std::vector<VectorEntry<S>>> largest(const S* values, std::uint64_t size, std::uint64_t count,
                                                   std::uint64_t most) {
  std::vector<VectorEntry<S>> entries;
  if (count == 0 || size == 0) return entries;
  count = std::min(count, size);
  Buffer<unsigned long long> counts = device_buffer<unsigned long long>(kDigits);
  ScoreKey<S> least = 0;
  std::uint64_t num_above = 0, num_found = 0;  // entries with larger keys; and with those from `least` on
  for (unsigned place = kNumDigits<ScoreKey<S>>; place-- > 0;) {
    TESSERA_CUDA_CALL(cudaMemsetAsync(counts.data(), 0, counts.size_bytes()));
    count_digits_kernel<<<num_blocks(size), kThreads>>>(values, size, least, place * kDigitBits,
                                                        counts.data());
    TESSERA_CUDA_CALL(cudaGetLastError());
    const Buffer<unsigned long long> of_digits = on_host(counts);
    unsigned digit = kDigits - 1;
    for (; digit > 0 && num_above + of_digits[digit] < count; --digit) num_above += of_digits[digit];
    least = least << kDigitBits | digit;
    num_found = num_above + of_digits[digit];
  }
  if (least == 0) {  // fewer are above 0
    least = 1;
    num_found = num_above;
  }
  if (num_found > most) return std::nullopt;
  if (num_found == 0) return entries;
  Buffer<std::uint64_t> indices = device_buffer<std::uint64_t>(num_found);
  Buffer<S> found = device_buffer<S>(num_found);
  TESSERA_CUDA_CALL(cudaMemsetAsync(counts.data(), 0, sizeof(unsigned long long)));
  collect_kernel<<<num_blocks(size), kThreads>>>(values, size, least, counts.data(), indices.data(),
                                                 found.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  const Buffer<std::uint64_t> host_indices = on_host(indices);
  const Buffer<S> host_values = on_host(found);
  entries.resize(num_found);
  for (std::uint64_t i = 0; i < num_found; ++i) entries[i] = {host_indices[i], host_values[i]};
  return entries;
}

template std::optional<std::vector<VectorEntry<float>>> largest(const float*, std::uint64_t, std::uint64_t,
                                                                std::uint64_t);
template std::optional<std::vector<VectorEntry<double>>> largest(const double*, std::uint64_t, std::uint64_t,
                                                                 std::uint64_t);

}  // namespace tessera::cuda
