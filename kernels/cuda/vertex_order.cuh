// Puts the vertices of a graph in the order of the solver: inputs first, longest columns first, then rows
// that are none, then the rest. A sort would give the order alone; here each vertex is told its place on the
// way, so that slots and what rows have need no gathers of their own.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/long_columns.cuh"
#include "kernels/cuda/running_sums.cuh"
#include "kernels/cuda/side_stream.cuh"
#include "kernels/cuda/sorting_team.cuh"
#include "kernels/cuda/vertex_links.cuh"

namespace tessera::cuda {

inline constexpr unsigned kOrderWarps = 16, kOrderThreads = 32 * kOrderWarps, kOrderRounds = 8,
                          kOrderVertices = kOrderRounds * kOrderThreads;  // of a block

/// In shared memory: how many of a block's vertices have each key.
using OrderTeam = SortingTeam<kOrderWarps, std::uint16_t, OrderKey::kCount>;

/// Of the thread's i-th vertex of a block.
__device__ inline std::uint64_t vertex_of_thread(unsigned i) {
  return std::uint64_t{blockIdx.x} * kOrderVertices + (threadIdx.x / 32 * kOrderRounds + i) * 32 +
         threadIdx.x % 32;
}

/// links, before: of the thread's vertices, and how many of the same key its warp has before each.
__device__ inline void count_keys_of_block(OrderTeam& team, const GivenVertices& given,
                                           VertexLinks (&links)[kOrderRounds],
                                           std::uint32_t (&before)[kOrderRounds]) {
#pragma unroll
  for (unsigned i = 0; i < kOrderRounds; ++i)
    links[i] = given.links(min(vertex_of_thread(i), given.count - 1));
  team.clear();
  team.count_rounds(
      kOrderRounds,
      [&](unsigned i) {
        return vertex_of_thread(i) < given.count ? given.key(links[i]) : std::uint32_t{OrderKey::kCount};
      },
      before);
  __syncthreads();
}

/// counts[k * gridDim.x + b]: vertices of block b with key k.
inline __global__ void __launch_bounds__(kOrderThreads)
    count_vertices_kernel(GivenVertices given, std::uint32_t* counts) {
  wait_for_kernels_before();
  __shared__ OrderTeam team;
  VertexLinks links[kOrderRounds];
  std::uint32_t before[kOrderRounds], column = 0, row = 0;
  count_keys_of_block(team, given, links, before);
#pragma unroll
  for (unsigned i = 0; i < kOrderRounds; ++i) {
    column = max(column, links[i].column);
    row = max(row, links[i].row);
  }
  column = __reduce_max_sync(~0u, column);
  row = __reduce_max_sync(~0u, row);
  if (threadIdx.x % 32 == 0) {
    if (column > given.longest[0]) atomicMax(given.longest, column);
    if (row > given.longest[1]) atomicMax(given.longest + 1, row);
  }
  for (unsigned key = threadIdx.x; key < OrderKey::kCount; key += kOrderThreads) {
    std::uint32_t sum = 0;
    for (unsigned w = 0; w < kOrderWarps; ++w) sum += team.counts[key * kOrderWarps + w];
    counts[std::uint64_t{key} * gridDim.x + blockIdx.x] = sum;
  }
}

/// A block's vertices by key, in shared memory: stored from there, those that go side by side are so at once.
struct OrderBlock {
  OrderTeam team;
  std::uint32_t shifts[OrderKey::kCount];  ///< of each key, from places in the block to those of all
  VertexLinks links[kOrderVertices];
  std::uint16_t numbers[kOrderVertices];  ///< of the vertices, in the block

  /// ends: as place_vertices_kernel() has them.
  __device__ void find_shifts(const std::uint32_t* ends) {
    team.sum_up();
    for (unsigned key = threadIdx.x; key < OrderKey::kCount; key += kOrderThreads) {
      const std::uint64_t at = std::uint64_t{key} * gridDim.x + blockIdx.x;
      shifts[key] = (at == 0 ? 0 : ends[at - 1]) - team.counts[key * kOrderWarps];
    }
    __syncthreads();
  }
};

/// ends: counts of that summed up.
inline __global__ void __launch_bounds__(kOrderThreads, 2)
    place_vertices_kernel(GivenVertices given, const std::uint32_t* ends, PlacedVertices placed) {
  wait_for_kernels_before();
  extern __shared__ __align__(16) unsigned char order_memory[];
  auto& block = *reinterpret_cast<OrderBlock*>(order_memory);
  {
    VertexLinks links[kOrderRounds];
    std::uint32_t before[kOrderRounds];
    count_keys_of_block(block.team, given, links, before);
    block.find_shifts(ends);
#pragma unroll
    for (unsigned i = 0; i < kOrderRounds; ++i) {
      const std::uint64_t vertex = vertex_of_thread(i);
      if (vertex >= given.count) break;
      const std::uint32_t key = given.key(links[i]), place = block.team.count_of(key) + before[i];
      placed.tell_slot(block.shifts[key] + place, static_cast<VertexId>(vertex), links[i]);
      block.links[place] = links[i];
      block.numbers[place] = static_cast<std::uint16_t>(vertex % kOrderVertices);
    }
  }
  __syncthreads();
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kOrderVertices;
  for (unsigned i = threadIdx.x; i < kOrderVertices && first + i < given.count; i += kOrderThreads) {
    const VertexLinks links = block.links[i];
    placed.put(block.shifts[given.key(links)] + i, static_cast<VertexId>(first + block.numbers[i]), links);
  }
}

/// Of the counts of all keys in so many blocks, as they are summed up. And rows' elements are summed up
/// from 0.
struct FindInSums {
  std::uint64_t num_blocks;
  const std::uint32_t* longest;  ///< of a column, and of a row
  VertexFindings* found;
  std::uint64_t* before_rows;  ///< of no row

  __host__ __device__ void operator()(std::uint64_t i, std::uint32_t end) const {
    if (i == num_blocks - 1) {  // of the first key
      found->num_long = end;
      found->longest_column = longest[0];
      found->longest_row = longest[1];
      *before_rows = 0;
    }
    if (i == OrderKey::kRowAlone * num_blocks - 1) found->num_inputs = end;
    if (i == OrderKey::kRest * num_blocks - 1) found->num_linked = end;
  }
};

/// Elements of rows in order, behind a 0; none of those without links.
struct LengthsOfLinked {
  const std::uint64_t* lengths;
  const VertexFindings* found;
  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const {
    return i <= found->num_linked ? lengths[i] : 0;
  }
};

/// Of the first columns: by how much each is shorter than the longest, and whose it is.
struct KeyOfLong {
  std::uint32_t longest;
  const std::uint32_t* column_lengths;
  const VertexId* vertices;
  std::uint32_t* keys;
  VertexId* of_keys;

  __host__ __device__ void operator()(std::uint64_t i) const {
    keys[i] = longest - column_lengths[i];
    of_keys[i] = vertices[i];
  }
};

/// Puts a vertex where it is in order.
struct PutInOrder {
  GivenVertices given;
  PlacedVertices placed;
  const VertexId* ordered;

  __host__ __device__ void operator()(std::uint64_t i) const {
    placed.put_in_order(given, static_cast<std::uint32_t>(i), ordered[i]);
  }
};

/// The vertices of a graph in order. Of functors instead of lambdas, so that it may be used in more than one
/// translation unit (device_builds.cu).
template <class Memory>
struct VertexOrder {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  VertexFindings found;
  Vector<VertexId> vertices, slots;              ///< this and what follows: as PlacedVertices has them
  Vector<std::uint32_t> column_lengths;          ///< of found.num_inputs
  Vector<std::uint64_t> row_begins, row_starts;  ///< of found.num_linked; row_starts: elements of rows
                                                 ///< before, and of all

  /// tile_columns: of a tile, behind which is a slot that is no column's. meanwhile(): what the host does
  /// before it waits for a device.
  template <class F>
  VertexOrder(const GivenVertices& given, std::uint32_t tile_columns, SideStream<Memory>& side,
              const F& meanwhile)
      : vertices(given.count),
        slots(given.count),
        column_lengths(given.count),
        row_begins(given.count),
        row_starts(given.count + 1) {
    if (given.count == 0) {
      Memory::clear(row_starts.data(), sizeof(std::uint64_t));
      meanwhile();
      return;
    }
    const PlacedVertices placed{ColumnSlots(tile_columns, ceil_div<std::uint64_t>(given.count, tile_columns)),
                                vertices.data(),
                                slots.data(),
                                column_lengths.data(),
                                row_begins.data(),
                                row_starts.data() + 1};
    Vector<VertexFindings> all(1);
    const Vector<std::uint32_t> ends = count(given, all.data());
    std::optional<LongSort> sort;
    if (given.by_length) sort.emplace(given.count, given.num_elements);
    // Where rows begin is summed up before the host hears how many there are, if it is known that the sort
    // has room for all long columns.
    const bool is_in_order = !sort || given.num_elements / OrderKey::kLong <= sort->most();
    found = side.to_host(all.data(), 1, [&] {
      place(given, ends, placed);
      if (sort) sort->run(given, placed, all.data());
      if (is_in_order) sum_up_rows(all.data());
      meanwhile();
    })[0];
    if (sort && found.num_long > sort->most()) order_long_columns(given, placed);
    column_lengths.truncate(found.num_inputs);
    row_begins.truncate(found.num_linked);
    row_starts.truncate(found.num_linked + std::uint64_t{1});
    if (!is_in_order) sum_up_rows(all.data());
  }

 private:
  /// What stands for it where there is no device.
  struct NoSort {
    NoSort(std::uint64_t, std::uint64_t) {}
    std::uint32_t most() const { return 0; }
    void run(const GivenVertices&, const PlacedVertices&, const VertexFindings*) {}
  };
  using LongSort = std::conditional_t<std::is_same_v<Memory, DeviceMemory>, LongColumnSort, NoSort>;

  void sum_up_rows(const VertexFindings* of_all) {
    sum_up<std::uint64_t, Memory>(row_starts.size(), LengthsOfLinked{row_starts.data(), of_all},
                                  row_starts.data());
  }

  static std::uint64_t num_blocks(const GivenVertices& given) {
    return ceil_div<std::uint64_t>(given.count, kOrderVertices);
  }

  /// Vertices of each key in all blocks before and in this one, key after key.
  Vector<std::uint32_t> count(const GivenVertices& given, VertexFindings* of_all) {
    const std::uint64_t blocks = num_blocks(given);
    Vector<std::uint32_t> counts(blocks * OrderKey::kCount);
    if constexpr (std::is_same_v<Memory, DeviceMemory>) {
      launch_early(count_vertices_kernel, static_cast<unsigned>(blocks), kOrderThreads, 0, given,
                   counts.data());
    } else {
      std::fill_n(counts.data(), counts.size(), 0);
      for (std::uint64_t v = 0; v < given.count; ++v) {
        const VertexLinks links = given.links(v);
        ++counts.data()[given.key(links) * blocks + v / kOrderVertices];
        given.longest[0] = std::max(given.longest[0], links.column);
        given.longest[1] = std::max(given.longest[1], links.row);
      }
    }
    sum_up<std::uint32_t, Memory>(counts.size(), LoadValue<std::uint32_t>{counts.data()}, counts.data(),
                                  FindInSums{blocks, given.longest, of_all, row_starts.data()});
    return counts;
  }

  static void place(const GivenVertices& given, const Vector<std::uint32_t>& ends,
                    const PlacedVertices& placed) {
    if constexpr (std::is_same_v<Memory, DeviceMemory>) {
      allow_shared_bytes<place_vertices_kernel>(sizeof(OrderBlock));
      launch_early(place_vertices_kernel, static_cast<unsigned>(num_blocks(given)), kOrderThreads,
                   sizeof(OrderBlock), given, ends.data(), placed);
    } else {
      std::array<std::uint32_t, OrderKey::kCount> next{};
      for (std::uint32_t key = 1; key < OrderKey::kCount; ++key)
        next[key] = ends.data()[key * num_blocks(given) - 1];
      for (std::uint64_t v = 0; v < given.count; ++v) {
        const VertexLinks links = given.links(v);
        const std::uint32_t at = next[given.key(links)]++;
        placed.tell_slot(at, static_cast<VertexId>(v), links);
        placed.put(at, static_cast<VertexId>(v), links);
      }
    }
  }

  /// They come first, so far in the order as given. On a device only where LongSort has no room for them.
  void order_long_columns(const GivenVertices& given, const PlacedVertices& placed) {
    Vector<std::uint32_t> keys(found.num_long);
    Vector<VertexId> ordered(found.num_long);
    Memory::each(keys.size(), KeyOfLong{found.longest_column, placed.column_lengths, placed.vertices,
                                        keys.data(), ordered.data()});
    Memory::sort(keys, ordered, 0, bits_for(found.longest_column - OrderKey::kLong));
    Memory::each(ordered.size(), PutInOrder{given, placed, ordered.data()});
  }
};

}  // namespace tessera::cuda
