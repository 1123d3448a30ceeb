#include "kernels/cuda/nccl_group.hpp"

#include <chrono>
#include <cstring>
#include <future>
#include <thread>

#include "kernels/base/error.hpp"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/device_memory.hpp"

namespace tessera::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kJoinSeconds = 60, kAbortSeconds = 1;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

std::string new_nccl_id() {
  ncclUniqueId id;
  const ncclResult_t result = ncclGetUniqueId(&id);
  if (result != ncclSuccess)
    throw ResourceError(std::string("NCCL: ncclGetUniqueId: ") + ncclGetErrorString(result) +
                        "; use --exchange mpi");
  return {id.internal, sizeof id.internal};
}

NcclGroup::NcclGroup(const std::string& id, int rank, int num_ranks) : num_ranks_(num_ranks) {
  ncclUniqueId unique;
  require(id.size() == sizeof unique.internal, "an NCCL id has a fixed size");
  std::memcpy(unique.internal, id.data(), id.size());
  int device = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  // Calls that return at once (blocking = 0) would start a thread for every exchange. So joining, which alone
  // may wait for another rank, has a thread of its own that can be left behind.
  auto joined = std::make_shared<std::promise<std::pair<ncclResult_t, ncclComm_t>>>();
  auto result = joined->get_future();
  std::thread([joined, unique, rank, num_ranks, device] {
    ncclComm_t comm = nullptr;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.maxCTAs = kNcclBlocks;
    ncclResult_t state = cudaSetDevice(device) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
    if (state == ncclSuccess) state = ncclCommInitRankConfig(&comm, num_ranks, unique, rank, &config);
    joined->set_value({state, comm});
  }).detach();
  const bool answered =
      result.wait_for(std::chrono::duration<double>(kJoinSeconds)) == std::future_status::ready;
  const auto [state, comm] = answered ? result.get() : std::pair{ncclSystemError, ncclComm_t{}};
  if (state != ncclSuccess)
    throw ResourceError(std::string("NCCL: linking the GPUs: ") +
                        (answered ? ncclGetErrorString(state) : "a rank did not join within a minute") +
                        "; use --exchange mpi or --backend cpu");
  comm_ = comm;
  connect();
}

void NcclGroup::connect() {
  // The first exchange sets up the links, which takes a while; not in the first step.
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  const Buffer<char> mine = device_buffer<char>(kBytes);
  Buffer<char> all = device_buffer<char>(kBytes * static_cast<std::size_t>(num_ranks_));
  cudaEvent_t done = nullptr;
  TESSERA_CUDA_CALL(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  all_gather(mine.data(), all.data(), kBytes, nullptr);
  TESSERA_CUDA_CALL(cudaEventRecord(done, nullptr));
  wait(done);
  TESSERA_CUDA_CALL(cudaEventDestroy(done));
}

NcclGroup::~NcclGroup() {
  if (comm_ == nullptr) return;
  auto aborted = std::make_shared<std::promise<void>>();
  std::future<void> done = aborted->get_future();
  // ncclCommAbort may hang itself when a rank is gone.
  std::thread([comm = comm_, aborted] {
    (void)ncclCommAbort(comm);
    aborted->set_value();
  }).detach();
  done.wait_for(std::chrono::duration<double>(kAbortSeconds));
}

void NcclGroup::check(ncclResult_t result, const char* call) {
  if (result != ncclSuccess)
    throw ResourceError(std::string("NCCL: ") + call + ": " + ncclGetErrorString(result));
}

void NcclGroup::all_gather(const void* mine, void* all, std::uint64_t bytes_each, cudaStream_t stream) {
  check(ncclAllGather(mine, all, bytes_each, ncclUint8, comm_, stream), "ncclAllGather");
}

void NcclGroup::wait(cudaEvent_t event) {
  for (const auto start = Clock::now();;) {
    const cudaError_t status = cudaEventQuery(event);
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) check_cuda(status, "exchange between GPUs");
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
    check(state, "exchange between GPUs");
    if (seconds_since(start) > kAnswerSeconds)
      throw ResourceError("the exchange between GPUs has stood still for " +
                          std::to_string(static_cast<int>(kAnswerSeconds)) +
                          " seconds: another rank is gone or has stopped");
  }
}

}  // namespace tessera::cuda
