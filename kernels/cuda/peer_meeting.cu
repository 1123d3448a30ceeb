#include "kernels/cuda/peer_meeting.hpp"

#include <algorithm>
#include <cuda/atomic>

#include "kernels/base/error.hpp"
#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {
namespace {

struct Notice {
  std::byte bytes[kNoticeBytes];
};

__global__ void post_notice_kernel(const __grid_constant__ PeerBoards boards, unsigned page,
                                   const __grid_constant__ Notice notice) {
  for (unsigned rank = 0; rank < boards.num_ranks; ++rank)
    boards.of[rank]->notices[page][boards.rank][threadIdx.x] =
        static_cast<unsigned char>(notice.bytes[threadIdx.x]);
  __threadfence_system();
}

using SystemWord = ::cuda::atomic_ref<std::uint64_t, ::cuda::thread_scope_system>;

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

/// A thread a rank: tells it that this one has come, and waits until it has.
__global__ void meet_kernel(const __grid_constant__ PeerBoards boards, std::uint64_t meeting,
                            std::uint64_t most_nanoseconds, volatile unsigned* given_up) {
  constexpr unsigned kLooks = 256;  // before another one at the host's memory, which takes longer
  if (threadIdx.x == boards.rank) return;
  SystemWord(boards.of[threadIdx.x]->arrivals[boards.rank].meeting)
      .store(meeting, ::cuda::std::memory_order_release);
  const std::uint64_t begun = nanoseconds();
  const SystemWord its(boards.of[boards.rank]->arrivals[threadIdx.x].meeting);
  for (unsigned looks = 1; its.load(::cuda::std::memory_order_acquire) < meeting; ++looks) {
    if (looks % kLooks != 0) continue;
    if (*given_up != 0) return;
    if (nanoseconds() - begun > most_nanoseconds) *given_up = 1;
  }
}

}  // namespace

void post_notice(const PeerBoards& boards, unsigned page, std::span<const std::byte> notice,
                 cudaStream_t stream) {
  require(notice.size() <= kNoticeBytes && page < 2, "a notice that has room");
  Notice padded{};
  std::copy(notice.begin(), notice.end(), padded.bytes);
  post_notice_kernel<<<1, kNoticeBytes, 0, stream>>>(boards, page, padded);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

void meet(const PeerBoards& boards, std::uint64_t meeting, double most_seconds, unsigned* given_up,
          cudaStream_t stream) {
  meet_kernel<<<1, boards.num_ranks, 0, stream>>>(boards, meeting,
                                                  static_cast<std::uint64_t>(most_seconds * 1e9), given_up);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

}  // namespace tessera::cuda
