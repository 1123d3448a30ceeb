// See page_memory.hpp.
#include "engine/page_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "kernels/base/error.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

void release_pages(void* data, std::size_t num_bytes) {
  static const std::uintptr_t page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = round_up(begin, page), last = (begin + num_bytes) / page * page;
  // A hint: when it fails the memory is merely given back later.
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
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
