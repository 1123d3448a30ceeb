// See page_memory.hpp.
#include "engine/page_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernels/base/error.hpp"
#include "kernels/base/types.hpp"

namespace tessera {
namespace {

/// A hint about the whole pages of [data, data + num_bytes): where it fails all works as well, but slower.
void advise_pages(void* data, std::size_t num_bytes, int advice) {
  static const std::uintptr_t page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = round_up(begin, page), last = (begin + num_bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, advice);
}

/// Writable private memory that nobody has touched.
void find_pages(void* data, std::size_t num_bytes) {
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t kPiece = std::size_t{8} << 20;
  if (num_bytes < 2 * kPiece) return;
  advise_pages(data, num_bytes, MADV_HUGEPAGE);
  const std::size_t num_pieces = ceil_div(num_bytes, kPiece);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < num_pieces; ++i)
    advise_pages(static_cast<char*>(data) + i * kPiece, std::min(kPiece, num_bytes - i * kPiece),
                 MADV_POPULATE_WRITE);
#else
  advise_pages(data, num_bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace

void release_pages(void* data, std::size_t num_bytes) { advise_pages(data, num_bytes, MADV_DONTNEED); }

std::vector<double> zeros_in_found_pages(std::uint64_t size) {
  std::vector<double> zeros;
  zeros.reserve(size);
  find_pages(zeros.data(), size * sizeof(double));
  zeros.resize(size);
  return zeros;
}

PageMemory::PageMemory(std::size_t num_bytes) : num_bytes_(num_bytes) {
  if (num_bytes == 0) return;
  data_ =
      mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data_ == MAP_FAILED) {
    data_ = nullptr;
    throw ResourceError("cannot allocate " + std::to_string(num_bytes) + " bytes of memory");
  }
  madvise(data_, num_bytes, MADV_NOHUGEPAGE);
}

PageMemory::~PageMemory() {
  if (data_ != nullptr) munmap(data_, num_bytes_);
}

}  // namespace tessera
