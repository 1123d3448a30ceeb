// Memory whose pages are given back early, or found by all threads. Building a graph moves every edge twice,
// so consumed parts go back to the system while the rest is still in use, and the peak stays near one copy.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera {

/// Gives the whole pages of [data, data + num_bytes) back; their content is lost.
void release_pages(void* data, std::size_t num_bytes);

/// `size` zeros. A large vector finds its pages one by one when it is made, here all threads find them, large
/// ones where there are any.
std::vector<double> zeros_in_found_pages(std::uint64_t size);

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
