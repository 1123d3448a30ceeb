#include "engine/io/same_file.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/io/cache_checksum.hpp"
#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t kEndBytes = std::uint64_t{1} << 16;  // at either end
constexpr std::uint64_t kSampleBytes = std::uint64_t{1} << 12;
constexpr std::uint64_t kNumSamples = 64;

/// The checksum of length, ends and samples; of all bytes where the samples would meet.
std::uint64_t sampled_checksum(const InputFile& file) {
  const std::uint64_t size = file.size_bytes();
  std::vector<std::uint64_t> parts{size};
  std::string bytes;
  const auto add = [&](std::uint64_t offset, std::uint64_t count) {
    bytes.resize(count);
    bytes.resize(file.read_at(bytes, offset));
    parts.push_back(piece_checksum(bytes));
  };
  if (size <= 2 * kEndBytes + kNumSamples * kSampleBytes) {
    add(0, size);
    return combined_checksum(parts);
  }
  add(0, kEndBytes);
  const std::uint64_t gap = (size - 2 * kEndBytes) / kNumSamples;
  for (std::uint64_t i = 0; i < kNumSamples; ++i) add(kEndBytes + i * gap, kSampleBytes);
  add(size - kEndBytes, kEndBytes);
  return combined_checksum(parts);
}

}  // namespace

void check_same_file(const InputFile& file, Communicator& comm) {
  if (comm.size() == 1) return;
  std::uint64_t checksum = 0;
  run_together(comm, [&] { checksum = sampled_checksum(file); });
  if (!all_same(comm, checksum))
    throw InputError(file.name() + ": not the same file on every machine of the run");
}

}  // namespace tessera
