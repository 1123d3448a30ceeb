// The tile-messages product on a device: two launches of one kernel.

#include <algorithm>

#include "kernels/cuda/cache_policy.cuh"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/shared_memory_limit.hpp"
#include "kernels/cuda/slice_sums.cuh"

namespace tessera::cuda {
namespace {

/// Where pass 1 puts its sums. Stores say, too, whether the messages are kept in the cache, and read.
template <class S, CacheUse kUse>
struct MessageStore {
  using Place = std::uint64_t;
  static constexpr bool kNeedsFirst = false, kReadsMessages = false;
  static constexpr CacheUse kCacheUse = kUse;
  S* messages;
  template <class T>
  __device__ void operator()(Place place, T sum, std::uint32_t) const {
    if constexpr (kUse != CacheUse::as_usual)
      store_to_keep(messages + place, static_cast<S>(sum));
    else
      __stcs(messages + place, static_cast<S>(sum));
  }
};

template <CacheUse kUse>
struct ProductStore {
  using Place = std::uint64_t;
  static constexpr bool kNeedsFirst = false, kReadsMessages = true;
  static constexpr CacheUse kCacheUse = kUse;
  double* product;
  __device__ void operator()(Place place, double sum, std::uint32_t) const { __stcs(product + place, sum); }
};

/// One vector of a product's block.
struct BlockStore {
  using Place = std::uint64_t;
  static constexpr bool kNeedsFirst = false, kReadsMessages = true;
  static constexpr CacheUse kCacheUse = CacheUse::as_usual;
  double* out;
  unsigned num_vectors;
  __device__ void operator()(Place place, double sum, std::uint32_t) const { out[place * num_vectors] = sum; }
};

template <bool kWeighted, unsigned kThreads, class S, class Store>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads) run_shares(PassArgs<S> args, Store store) {
  extern __shared__ __align__(16) unsigned char shared[];
  const std::uint32_t first_share = args.first_of_block[blockIdx.x],
                      end_share = args.first_of_block[blockIdx.x + 1];
  let_next_kernel_begin();
  for (std::uint32_t i = first_share; i < end_share; ++i)
    run_share<kWeighted, kThreads>(args, i, first_share, end_share, shared, store);
}

template <class S>
__global__ void take_kernel(const S* block, unsigned num_vectors, std::uint64_t size, S* vector) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step)
    vector[i] = block[i * num_vectors];
}

template <bool kWeighted, unsigned kThreads, class S, class Store>
void launch(const PassArgs<S>& args, const SliceShares& shares, const Store& store) {
  const std::size_t bytes =
      shared_bytes<run_shares<kWeighted, kThreads, S, Store>, kThreads, S>(shares.largest_window);
  allow_shared_bytes<run_shares<kWeighted, kThreads, S, Store>>(bytes);
  launch_early(run_shares<kWeighted, kThreads, S, Store>, shares.num_blocks, kThreads, bytes, args, store);
}

template <bool kWeighted, class S, class Store>
void run_pass(const SlicePassView<S>& pass, const SliceShares& shares, const S* in, const Store& store) {
  if (shares.num_blocks == 0) return;
  const PassArgs<S> args{pass, shares.shares, shares.first_of_block, in};
  if (threads_for<S>(shares.largest_window) == 1024)
    launch<kWeighted, 1024>(args, shares, store);
  else
    launch<kWeighted, 512>(args, shares, store);
}

}  // namespace

template <class S>
void send_messages(const SlicePassView<S>& tiles, const SliceShares& shares, const S* x, S* messages) {
  if (tiles.values != nullptr)
    run_pass<true>(tiles, shares, x, MessageStore<S, CacheUse::as_usual>{messages});
  else
    with_cache_use(shares.cache_use,
                   [&](auto use) { run_pass<false>(tiles, shares, x, MessageStore<S, use()>{messages}); });
}

template <class S>
void add_messages(const SlicePassView<S>& bins, const SliceShares& shares, const S* messages, double* product,
                  unsigned num_vectors, unsigned q) {
  if (num_vectors > 1)
    run_pass<false>(bins, shares, messages, BlockStore{product + q, num_vectors});
  else
    with_cache_use(shares.cache_use,
                   [&](auto use) { run_pass<false>(bins, shares, messages, ProductStore<use()>{product}); });
}

template <class S>
void take_vector(const S* block, unsigned num_vectors, unsigned q, std::uint64_t size, S* vector) {
  constexpr std::uint64_t kTakeThreads = 256, kMostBlocks = 1u << 16;
  if (size == 0) return;
  const auto blocks = static_cast<unsigned>(std::min(ceil_div(size, kTakeThreads), kMostBlocks));
  take_kernel<<<blocks, kTakeThreads>>>(block + q, num_vectors, size, vector);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template void send_messages(const SlicePassView<float>&, const SliceShares&, const float*, float*);
template void send_messages(const SlicePassView<double>&, const SliceShares&, const double*, double*);
template void add_messages(const SlicePassView<float>&, const SliceShares&, const float*, double*, unsigned,
                           unsigned);
template void add_messages(const SlicePassView<double>&, const SliceShares&, const double*, double*, unsigned,
                           unsigned);
template void take_vector(const float*, unsigned, unsigned, std::uint64_t, float*);
template void take_vector(const double*, unsigned, unsigned, std::uint64_t, double*);

}  // namespace tessera::cuda
