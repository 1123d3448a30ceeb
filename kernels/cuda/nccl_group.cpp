#include "kernels/cuda/nccl_group.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <future>
#include <thread>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/base/lost_rank.hpp"
#include "kernels/base/seconds_since.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/device_stream.hpp"

namespace tessera::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kJoinSeconds = 60, kLeaveSeconds = 5;
/// What an exchange may take of the time that the links' rate promises: they may serve others meanwhile.
constexpr double kTimesTheRate = 4;

}  // namespace

std::string new_nccl_id() {
  ncclUniqueId id;
  const ncclResult_t result = ncclGetUniqueId(&id);
  if (result != ncclSuccess)
    throw ResourceError(std::string("NCCL: ncclGetUniqueId: ") + ncclGetErrorString(result) +
                        "; use --exchange mpi");
  return {id.internal, sizeof id.internal};
}

/// What a rank needs to join. It is shared with a thread that may outlive the group.
struct NcclGroup::Joining {
  // The first exchange sets up the links, which takes a while; not in the first step.
  static constexpr std::size_t kBytes = std::size_t{1} << 20;

  Joining(ncclUniqueId id, int own_rank, int ranks) : unique(id), rank(own_rank), num_ranks(ranks) {
    TESSERA_CUDA_CALL(cudaGetDevice(&device));
    mine = allocate_device(kBytes);
    all = allocate_device(kBytes * static_cast<std::size_t>(num_ranks));
  }

  std::pair<ncclResult_t, ncclComm_t> run() const {
    ncclComm_t comm = nullptr;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.maxCTAs = kNcclBlocks;
    ncclResult_t state = cudaSetDevice(device) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
    if (state == ncclSuccess) state = ncclCommInitRankConfig(&comm, num_ranks, unique, rank, &config);
    if (state == ncclSuccess)
      state = ncclAllGather(mine.get(), all.get(), kBytes, ncclUint8, comm, stream.get());
    if (state == ncclSuccess && cudaStreamSynchronize(stream.get()) != cudaSuccess)
      state = ncclUnhandledCudaError;
    return {state, comm};
  }

  ncclUniqueId unique;
  int rank, num_ranks, device = 0;
  std::shared_ptr<void> mine, all;
  DeviceStream stream;  // so that this rank's other work need not wait for the others
};

NcclGroup::NcclGroup(const std::string& id, int rank, int num_ranks) {
  ncclUniqueId unique;
  require(id.size() == sizeof unique.internal, "an NCCL id has a fixed size");
  std::memcpy(unique.internal, id.data(), id.size());
  joining_ = std::make_shared<Joining>(unique, rank, num_ranks);
  begin_linking();
  // Calls that return at once (blocking = 0) would start a thread for every exchange. So what may wait for
  // another rank on the host, joining and the first exchange, has a thread of its own that can be left
  // behind.
  std::promise<std::pair<ncclResult_t, ncclComm_t>> joined;
  joined_ = joined.get_future();
  std::thread([joining = joining_, joined = std::move(joined)]() mutable {
    joined.set_value(joining->run());
  }).detach();
}

void NcclGroup::await_ranks() {
  if (joining_ == nullptr) return;
  const bool answered =
      joined_.wait_for(std::chrono::duration<double>(kJoinSeconds)) == std::future_status::ready;
  const auto [state, comm] = answered ? joined_.get() : std::pair{ncclSystemError, ncclComm_t{}};
  comm_ = comm;
  if (answered) end_linking();
  if (state != ncclSuccess) {
    joining_ = nullptr;
    joined_ = {};
    fail(std::string("NCCL: linking the GPUs: ") +
         (answered ? ncclGetErrorString(state) : "a rank did not join within a minute") +
         "; use --exchange mpi or --backend cpu");
  }
  measure_links();
  joining_ = nullptr;
}

void NcclGroup::measure_links() {
  double least = kAnswerSeconds;
  for (int i = 0; i < 3; ++i) {  // the first also waits for ranks that come later
    DeviceEvent begun, done;
    begun.record(nullptr);
    all_gather(joining_->mine.get(), joining_->all.get(), Joining::kBytes, nullptr);
    done.record(nullptr);
    wait(begun.get(), done.get(), 0);
    least = std::min(least, done.seconds_since(begun));
  }
  seconds_per_byte_ =
      least / static_cast<double>(Joining::kBytes * static_cast<std::uint64_t>(joining_->num_ranks));
}

NcclGroup::~NcclGroup() {
  if (joined_.valid()) end_joining();
  if (ends_with_process_ && std::uncaught_exceptions() == 0) return;
  abort(std::uncaught_exceptions() > 0 ? kAbortSeconds : kLeaveSeconds);
}

void NcclGroup::end_joining() {
  // A thread that still joins would use the device while the process ends.
  if (joined_.wait_for(std::chrono::duration<double>(kJoinToLeaveSeconds)) != std::future_status::ready)
    return abandon_device_memory();
  comm_ = joined_.get().second;
  end_linking();
}

bool NcclGroup::abort(double seconds) {
  if (comm_ == nullptr) return true;
  auto aborted = std::make_shared<std::promise<void>>();
  std::future<void> done = aborted->get_future();
  // ncclCommAbort may hang itself when a rank is gone.
  std::thread([comm = std::exchange(comm_, nullptr), aborted] {
    (void)ncclCommAbort(comm);
    aborted->set_value();
  }).detach();
  return done.wait_for(std::chrono::duration<double>(seconds)) == std::future_status::ready;
}

void NcclGroup::fail(const std::string& message) {
  // An exchange that waits for a lost rank keeps the device busy, and freeing memory would wait for it: so it
  // ends before the error travels on. Where it does not, memory is left to the end of the process.
  const bool joined = comm_ != nullptr;
  if (!abort(kAbortSeconds) || !joined) abandon_device_memory();
  throw LostRankError(message);
}

void NcclGroup::check(ncclResult_t result, const char* call) {
  if (result != ncclSuccess) fail(std::string("NCCL: ") + call + ": " + ncclGetErrorString(result));
}

void NcclGroup::all_gather(const void* mine, void* all, std::uint64_t bytes_each, cudaStream_t stream) {
  require(comm_ != nullptr, "the GPUs are not linked yet, or have been given up");
  check(ncclAllGather(mine, all, bytes_each, ncclUint8, comm_, stream), "ncclAllGather");
}

bool NcclGroup::has_passed(cudaEvent_t event) {
  const cudaError_t status = cudaEventQuery(event);
  if (status == cudaSuccess) return true;
  if (status != cudaErrorNotReady)
    fail(std::string("CUDA: exchange between GPUs: ") + cudaGetErrorString(status));
  ncclResult_t state = ncclSuccess;
  check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
  check(state, "exchange between GPUs");
  return false;
}

void NcclGroup::wait(cudaEvent_t begun, cudaEvent_t done, std::uint64_t bytes) {
  while (!has_passed(begun)) {
    // This rank's own work before the exchange, as long as it takes.
  }
  const double limit = kAnswerSeconds + kTimesTheRate * seconds_per_byte_ * static_cast<double>(bytes);
  for (const auto start = Clock::now(); !has_passed(done);)
    if (seconds_since(start) > limit)
      fail("the exchange between GPUs has not ended in " + std::to_string(static_cast<int>(limit)) +
           " seconds: another rank is gone or has stopped");
}

}  // namespace tessera::cuda
