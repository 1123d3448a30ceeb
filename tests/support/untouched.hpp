// Arrays that are addressed but never filled: pages of a mapping that nobody touches cost no memory and read
// as zeros. For offsets past 2^31 and 2^32.
#pragma once
#include <sys/mman.h>

#include <cstdint>

namespace tessera::test {

/// `size` zeros of type T, as address space only; data() is null where the system does not give out so much.
template <class T>
class Untouched {
 public:
  explicit Untouched(std::uint64_t size) : bytes_(size * sizeof(T)) {
    void* memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) data_ = static_cast<T*>(memory);
  }
  ~Untouched() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;
  T* data() { return data_; }

 private:
  std::uint64_t bytes_;
  T* data_ = nullptr;
};

}  // namespace tessera::test
