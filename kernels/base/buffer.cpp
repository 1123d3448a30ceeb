#include "kernels/base/buffer.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <string>

#include "kernels/base/error.hpp"

namespace tessera {

std::shared_ptr<void> allocate_host(std::size_t num_bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const bool large = num_bytes >= 4 * kHugePage;
  const std::size_t alignment = large ? kHugePage : 64;
  void* memory = nullptr;
  if (num_bytes <= (std::size_t{1} << 62))
    memory = std::aligned_alloc(alignment, round_up(num_bytes, alignment));
  if (memory == nullptr)
    throw ResourceError("cannot allocate " + std::to_string(num_bytes) + " bytes of memory");
  // Random access into vectors and index arrays costs a TLB miss a page; huge pages are only a hint.
  if (large) madvise(memory, num_bytes, MADV_HUGEPAGE);
  return {memory, std::free};
}

}  // namespace tessera
