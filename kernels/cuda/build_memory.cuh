// Memory of the host or of a device, and the loops, sorts and scans that builds are made of: what is written
// for a Memory can be tested without a device. On a device work is queued on its default stream, but for what
// runs beside (side_stream.cuh); arrays and scratch come from its memory pool, or are small blocks.
#pragma once
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/system_error.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/base/buffer.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/types.hpp"
#include "kernels/cuda/ascending_search.cuh"
#include "kernels/cuda/build_kernels.cuh"
#include "kernels/cuda/build_vector.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/shared_memory_limit.hpp"
#include "kernels/cuda/small_blocks.hpp"

namespace tessera::cuda {

/// Bits that hold 0 to `largest`.
inline unsigned bits_for(std::uint64_t largest) { return static_cast<unsigned>(std::bit_width(largest)); }

/// What follows from the operations of a Memory.
template <class Memory>
struct MemoryTools {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  template <class T>
  static Vector<T> zeros(std::uint64_t size) {
    Vector<T> result(size);
    Memory::clear(result.data(), size * sizeof(T));
    return result;
  }
  /// Two arrays, in one launch.
  template <class T>
  static std::array<Vector<T>, 2> zeros(std::uint64_t first_size, std::uint64_t second_size) {
    std::array<Vector<T>, 2> result{Vector<T>(first_size), Vector<T>(second_size)};
    Memory::clear_both(result[0].data(), first_size * sizeof(T), result[1].data(), second_size * sizeof(T));
    return result;
  }
  /// kNoVertex everywhere.
  static Vector<VertexId> no_vertices(std::uint64_t size) {
    static_assert(kNoVertex == ~VertexId{0});
    Vector<VertexId> result(size);
    Memory::fill(result.data(), 0xff, size * sizeof(VertexId));
    return result;
  }
  template <class T>
  static Vector<T> from_host(std::span<const T> host) {
    Vector<T> result(host.size());
    Memory::upload(host.data(), result.data(), host.size_bytes());
    return result;
  }
  template <class T>
  static std::vector<T> to_host(const T* from, std::uint64_t count) {
    std::vector<T> host(count);
    Memory::download(from, host.data(), count * sizeof(T));
    return host;
  }
  template <class T>
  static T read(const T* from) {
    return to_host(from, 1)[0];
  }
  /// What lies at both places, in one read.
  template <class T>
  static std::array<T, 2> read_both(const T* first, const T* second) {
    Vector<T> both(2);
    T* to = both.data();
    Memory::each(2, [=] __host__ __device__(std::uint64_t i) { to[i] = i == 0 ? *first : *second; });
    std::array<T, 2> result;
    Memory::download(to, result.data(), sizeof result);
    return result;
  }
  /// One after the other; the parts are freed.
  template <class T>
  static Vector<T> joined(std::vector<Vector<T>>& parts) {
    if (parts.size() == 1) return std::move(parts[0]);
    std::uint64_t size = 0, next = 0;
    for (const Vector<T>& part : parts) size += part.size();
    Vector<T> all(size);
    for (Vector<T>& part : parts) {
      Memory::copy(part.data(), all.data() + next, part.size() * sizeof(T));
      next += part.size();
      part = {};
    }
    parts.clear();
    return all;
  }
  /// The array as a Buffer that owns it.
  template <class T>
  static Buffer<T> as_buffer(Vector<T>&& vector) {
    const std::uint64_t size = vector.size(), num_bytes = vector.num_bytes();
    T* data = vector.release();
    const auto free = [num_bytes](void* memory) { Memory::free_result(memory, num_bytes); };
    return Buffer<T>(std::shared_ptr<void>(data, free), data, size);
  }
  /// Stable, by these bits of the keys alone.
  template <class K, class P>
  static void sort(Vector<K>& keys, Vector<P>& payload, unsigned first_bit, unsigned end_bit) {
    if (end_bit <= first_bit || keys.size() < 2) return;
    Vector<K> other_keys(keys.size());
    Vector<P> other_payload(keys.size());
    Memory::sort_into(keys, other_keys, payload, other_payload, first_bit, end_bit);
  }
  /// Copies of both arrays, sorted by the lower `bits` bits of the keys; stable.
  template <class K, class P>
  static void copy_sorted(const K* from, const P* from_payload, Vector<K>& keys, Vector<P>& payload,
                          unsigned bits) {
    if (bits > 0 && keys.size() > 1) return Memory::sort_copies(from, from_payload, keys, payload, bits);
    Memory::copy(from, keys.data(), keys.size() * sizeof(K));
    Memory::copy(from_payload, payload.data(), keys.size() * sizeof(P));
  }
};

inline constexpr unsigned char kPoison = 0xa5;  // nothing may rest on what memory of the host holds

/// What stands for pinned memory where there is no device.
struct PlainMemory {
  static void* allocate(std::size_t num_bytes) {
    return std::memset(::operator new(num_bytes), kPoison, num_bytes);
  }
  static void deallocate(void* memory, std::size_t) { ::operator delete(memory); }
};

struct HostMemory : MemoryTools<HostMemory> {
  /// What is sent waits here.
  template <class T>
  using Staging = BuildVector<PlainMemory, T>;
  /// That are allocated, and that were at most: what a build needs of a device, but for the scratch of loops,
  /// sorts and scans there.
  static inline std::atomic<std::uint64_t> num_bytes_now = 0, most_bytes = 0;

  static void* allocate(std::size_t num_bytes) {
    void* const memory = std::memset(::operator new(num_bytes), kPoison, num_bytes);
    const std::uint64_t now = num_bytes_now += num_bytes;
    std::uint64_t most = most_bytes;
    while (most < now && !most_bytes.compare_exchange_weak(most, now)) {
    }
    return memory;
  }
  static void deallocate(void* memory, std::size_t num_bytes) {
    num_bytes_now -= num_bytes;
    ::operator delete(memory);
  }
  static void free_result(void* memory, std::size_t num_bytes) {
    if (memory != nullptr) deallocate(memory, num_bytes);
  }
  static inline std::atomic<std::uint64_t> most_free_bytes = ~std::uint64_t{0};  ///< for tests
  static std::uint64_t free_bytes() { return most_free_bytes; }
  static void clear(void* to, std::size_t num_bytes) { fill(to, 0, num_bytes); }
  static void clear_both(void* first, std::size_t first_bytes, void* second, std::size_t second_bytes) {
    clear(first, first_bytes);
    clear(second, second_bytes);
  }
  static void fill(void* to, unsigned char byte, std::size_t num_bytes) {
    if (num_bytes > 0) std::memset(to, byte, num_bytes);
  }
  static void copy(const void* from, void* to, std::size_t num_bytes) {
    if (num_bytes > 0) std::memcpy(to, from, num_bytes);
  }
  static void upload(const void* from, void* to, std::size_t num_bytes, cudaStream_t = nullptr) {
    copy(from, to, num_bytes);
  }
  static void download(const void* from, void* to, std::size_t num_bytes) { copy(from, to, num_bytes); }

  template <class F>
  static void each(std::uint64_t count, F body, cudaStream_t = nullptr) {
    for (std::uint64_t i = 0; i < count; ++i) body(i);
  }
  /// store(element, compute(row, element)) for the elements starts[row] to starts[row + 1] of every row;
  /// starts[0] is 0. Nothing is computed from what is stored. most: elements in all, or more.
  template <class Compute, class Store>
  static void each_in_rows(const Vector<std::uint64_t>& starts, std::uint64_t, Compute compute, Store store) {
    for (std::uint64_t row = 0; row + 1 < starts.size(); ++row)
      for (std::uint64_t e = starts.data()[row]; e < starts.data()[row + 1]; ++e) store(e, compute(row, e));
  }
  static auto policy() { return thrust::seq; }
  template <class K, class P>
  static void sort_copies(const K* from, const P* from_payload, Vector<K>& keys, Vector<P>& payload,
                          unsigned bits) {
    copy(from, keys.data(), keys.size() * sizeof(K));
    copy(from_payload, payload.data(), keys.size() * sizeof(P));
    sort(keys, payload, 0, bits);
  }
  template <class K, class P>
  static void sort_into(Vector<K>& keys, Vector<K>& other_keys, Vector<P>& payload, Vector<P>& other_payload,
                        unsigned first_bit, unsigned end_bit) {
    std::vector<std::uint64_t> order(keys.size());
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    const auto part = [&](std::uint64_t i) {
      return std::uint64_t{keys.data()[i]} << (64 - end_bit) >> (64 - end_bit + first_bit);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint64_t a, std::uint64_t b) { return part(a) < part(b); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      other_keys.data()[i] = keys.data()[order[i]];
      other_payload.data()[i] = payload.data()[order[i]];
    }
    keys.swap(other_keys);
    payload.swap(other_payload);
  }
};

/// Memory of the host that a device copies from at the full rate.
struct PinnedMemory {
  static void* allocate(std::size_t num_bytes) {
    void* memory = nullptr;
    if (lacks_memory(cudaMallocHost(&memory, num_bytes), "cudaMallocHost"))
      throw NoRoomError("the host has no page-locked memory left to send the matrix from; use --pack host");
    return memory;
  }
  static void deallocate(void* memory, std::size_t) {
    if (may_free()) (void)cudaFreeHost(memory);
  }
};

struct DeviceMemory : MemoryTools<DeviceMemory> {
  template <class T>
  using Staging = BuildVector<PinnedMemory, T>;
  static void* allocate(std::size_t num_bytes) {
    void* memory = SmallBlocks::take(num_bytes);
    if (memory == nullptr && lacks_memory(cudaMallocAsync(&memory, num_bytes, nullptr), "cudaMallocAsync"))
      throw NoRoomError(
          "the GPU has no room to build the matrix; use --pack host, more GPUs or --precision f32");
    return memory;
  }
  static void deallocate(void* memory, std::size_t num_bytes) {
    if (may_free() && !SmallBlocks::keep(memory, num_bytes)) (void)cudaFreeAsync(memory, nullptr);
  }
  /// Waits for the kernels that read it: freeing memory of the pool does not.
  static void free_result(void* memory, std::size_t num_bytes) {
    if (memory == nullptr || !may_free()) return;
    (void)cudaStreamSynchronize(nullptr);
    if (!SmallBlocks::keep(memory, num_bytes)) (void)cudaFree(memory);
  }
  static std::uint64_t free_bytes() { return free_device_bytes(); }
  static void clear(void* to, std::size_t num_bytes) { fill(to, 0, num_bytes); }
  static void clear_both(void* first, std::size_t first_bytes, void* second, std::size_t second_bytes) {
    const FillBoth both{{first, first_bytes, 0}, {second, second_bytes, 0}};
    each(both.num_threads(), both);
  }
  static void fill(void* to, unsigned char byte, std::size_t num_bytes) {
    const FillBytes bytes(to, num_bytes, byte);
    each(bytes.num_threads(), bytes);
  }
  static void copy(const void* from, void* to, std::size_t num_bytes) {
    if (num_bytes > 0) TESSERA_CUDA_CALL(cudaMemcpyAsync(to, from, num_bytes, cudaMemcpyDeviceToDevice));
  }
  static void upload(const void* from, void* to, std::size_t num_bytes, cudaStream_t stream = nullptr) {
    if (num_bytes == 0) return;
    if (!SentWords::take(to, num_bytes)) {
      TESSERA_CUDA_CALL(cudaMemcpyAsync(to, from, num_bytes, cudaMemcpyHostToDevice, stream));
      return;
    }
    SentWords words;
    std::memcpy(words.words, from, num_bytes);
    launch_early(stream, store_words_kernel, 1, kSentThreads, 0, words,
                 static_cast<std::uint32_t>(num_bytes / sizeof(std::uint32_t)),
                 static_cast<std::uint32_t*>(to));
  }
  static void download(const void* from, void* to, std::size_t num_bytes) {
    if (num_bytes > 0) TESSERA_CUDA_CALL(cudaMemcpy(to, from, num_bytes, cudaMemcpyDeviceToHost));
  }

  /// stream: one beside the default one.
  template <class F>
  static void each(std::uint64_t count, F body, cudaStream_t stream = nullptr) {
    if (count == 0) return;
    const auto num_blocks = static_cast<unsigned>(ceil_div<std::uint64_t>(count, 256));
    launch_early(stream, each_kernel<F>, num_blocks, 256, 0, count, body);
  }
  template <class Compute, class Store>
  static void each_in_rows(const Vector<std::uint64_t>& starts, std::uint64_t most, Compute compute,
                           Store store) {
    if (most == 0) return;
    const auto num_blocks = static_cast<unsigned>(ceil_div<std::uint64_t>(most, kRowElements));
    launch_early(each_in_rows_kernel<Compute, Store>, num_blocks, kRowThreads, 0, starts.data(),
                 starts.size() - 1, compute, store);
  }

  /// Scratch for Thrust.
  struct Pool {
    using value_type = char;
    char* allocate(std::ptrdiff_t num_bytes) {
      return static_cast<char*>(DeviceMemory::allocate(static_cast<std::size_t>(num_bytes)));
    }
    void deallocate(char* memory, std::size_t num_bytes) { DeviceMemory::deallocate(memory, num_bytes); }
  };
  static auto policy() {
    static Pool pool;  // holds nothing
    return thrust::cuda::par_nosync(pool);
  }
  /// Calls a function of CUB, which first says how much scratch it needs.
  template <class F>
  static void with_scratch(const F& call) {
    std::size_t num_bytes = 0;
    TESSERA_CUDA_CALL(call(nullptr, num_bytes));
    Vector<char> scratch(std::max<std::size_t>(num_bytes, 1));
    TESSERA_CUDA_CALL(call(scratch.data(), num_bytes));
  }
  template <class K, class P>
  static void sort_copies(const K* from, const P* from_payload, Vector<K>& keys, Vector<P>& payload,
                          unsigned bits) {
    with_scratch([&](void* scratch, std::size_t& num_bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, num_bytes, from, keys.data(), from_payload,
                                             payload.data(), keys.size(), 0, static_cast<int>(bits));
    });
  }
  template <class K, class P>
  static void sort_into(Vector<K>& keys, Vector<K>& other_keys, Vector<P>& payload, Vector<P>& other_payload,
                        unsigned first_bit, unsigned end_bit) {
    cub::DoubleBuffer<K> key_buffers(keys.data(), other_keys.data());
    cub::DoubleBuffer<P> payload_buffers(payload.data(), other_payload.data());
    with_scratch([&](void* scratch, std::size_t& num_bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, num_bytes, key_buffers, payload_buffers, keys.size(),
                                             static_cast<int>(first_bit), static_cast<int>(end_bit));
    });
    if (key_buffers.Current() != keys.data()) keys.swap(other_keys);
    if (payload_buffers.Current() != payload.data()) payload.swap(other_payload);
  }
};

/// Adds where others add at the same time.
__host__ __device__ inline void add_to(std::uint32_t* sum, std::uint32_t value) {
#ifdef __CUDA_ARCH__
  atomicAdd(sum, value);
#else
  *sum += value;
#endif
}

/// The largest of all elements up to each.
template <class Memory, class T>
void raise(BuildVector<Memory, T>& values) {
  thrust::inclusive_scan(Memory::policy(), values.data(), values.data() + values.size(), values.data(),
                         thrust::maximum<T>());
}
/// Those i < count, ascending, for which `wanted` holds, and behind them room for the others.
template <class I, class Memory, class F>
BuildVector<Memory, I> indices_where(std::uint64_t count, F wanted) {
  BuildVector<Memory, I> found(count);
  const auto first = thrust::counting_iterator<I>(0);
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {  // Thrust would wait for the number
    BuildVector<Memory, std::uint64_t> number(1);
    Memory::with_scratch([&](void* scratch, std::size_t& num_bytes) {
      return cub::DeviceSelect::If(scratch, num_bytes, first, found.data(), number.data(), count, wanted);
    });
  } else {
    std::copy_if(first, first + static_cast<std::ptrdiff_t>(count), found.data(), wanted);
  }
  return found;
}

}  // namespace tessera::cuda
