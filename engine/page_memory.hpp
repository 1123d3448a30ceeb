// Memory of which consumed parts go back to the system while the rest is still in use: building a graph
// moves every edge twice, and the peak should stay near one copy.
#pragma once
#include <cstddef>

namespace tessera {

/// Gives the whole pages of [data, data + num_bytes) back; their content is lost.
void release_pages(void* data, std::size_t num_bytes);

/// Zeroed memory in small pages, so that resident memory follows what is written and what was released.
class PageMemory {
 public:
  explicit PageMemory(std::size_t num_bytes);
  ~PageMemory();
  PageMemory(const PageMemory&) = delete;
  PageMemory& operator=(const PageMemory&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t num_bytes_ = 0;
};

}  // namespace tessera
